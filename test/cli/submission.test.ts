import { expect, test } from "vitest";
import { type Submission, toSubmission } from "../../src/cli/client/submission.ts";

const keep = (own: unknown): unknown => own ?? "new-run";

function submit(record: unknown): Submission {
  const submission = toSubmission(JSON.stringify(record), keep);
  if ("fault" in submission) throw new Error(submission.fault);
  return submission;
}

function faultOf(text: string): string {
  const submission = toSubmission(text, keep);
  return "fault" in submission ? submission.fault : "no fault";
}

const snapshot = {
  "com.linkedin.pegasus2avro.metadata.snapshot.TagSnapshot": {
    urn: "urn:li:tag:rare",
    aspects: [{ "com.linkedin.pegasus2avro.tag.TagProperties": { name: "rare" } }, {}],
  },
};

test("a snapshot in the form of files and one in the form of requests are sent alike", () => {
  const expected = {
    kind: "snapshot",
    urn: "urn:li:tag:rare",
    aspects: 2,
    body: JSON.stringify({ value: snapshot }),
    systemMetadata: '{"lastObserved":5,"runId":"r"}',
  };
  const systemMetadata = { lastObserved: 5, runId: "r" };
  expect(submit({ proposedSnapshot: snapshot, systemMetadata })).toEqual(expected);
  expect(submit({ entity: { value: snapshot }, systemMetadata })).toEqual(expected);
});

test("a proposal in the form of files is sent with its value as text", () => {
  const { body, urn, kind } = submit({
    entityType: "tag",
    entityUrn: "urn:li:tag:rare",
    changeType: "UPSERT",
    aspectName: "tagProperties",
    aspect: { json: { name: "rare", description: 'é "x"' } },
  });
  expect({ urn, kind }).toEqual({ urn: "urn:li:tag:rare", kind: "proposal" });
  expect(JSON.parse(body)).toEqual({
    entityType: "tag",
    entityUrn: "urn:li:tag:rare",
    changeType: "UPSERT",
    aspectName: "tagProperties",
    aspect: { value: '{"name":"rare","description":"é \\"x\\""}', contentType: "application/json" },
    systemMetadata: { runId: "new-run" },
  });
});

test("a proposal in the form of requests is unchanged, wrapped or not", () => {
  const proposal = {
    entityType: "tag",
    entityUrn: "urn:li:tag:rare",
    changeType: "CREATE",
    aspectName: "tagProperties",
    aspect: { value: '{"name": "rare"}', contentType: "application/json" },
    headers: { "If-None-Match": "*" },
    systemMetadata: { runId: "own" },
  };
  expect(JSON.parse(submit(proposal).body)).toEqual(proposal);
  expect(JSON.parse(submit({ proposal }).body)).toEqual(proposal);
});

test("a patch in the form of files is sent as a patch, and a deletion without a value", () => {
  const common = { entityType: "tag", entityUrn: "urn:li:tag:rare", aspectName: "globalTags" };
  const patch = submit({ ...common, changeType: "PATCH", aspect: { json: [] } });
  expect(JSON.parse(patch.body).aspect).toEqual({
    value: "[]",
    contentType: "application/json-patch+json",
  });
  const deletion = submit({ ...common, changeType: "DELETE", aspect: null });
  expect(JSON.parse(deletion.body).aspect ?? "absent").toBe("absent");
});

test("a proposal with a key instead of a urn has the key as ordering key", () => {
  const record = { entityType: "tag", entityKeyAspect: { json: { name: "rare" } } };
  expect(submit(record).urn).toBe(submit({ ...record, aspectName: "status" }).urn);
  expect(JSON.parse(submit(record).body).entityKeyAspect.value).toBe('{"name":"rare"}');
});

test.each([
  ['{"a":', "is not JSON"],
  ["7", "is not a JSON object"],
  ["[]", "is not a JSON object"],
  ['{"urn":"urn:li:tag:x","aspects":[]}', "has the members {urn, aspects}"],
  ['{"proposedSnapshot":{}}', "has no urn"],
  ['{"proposedSnapshot":{"x.TagSnapshot":{"aspects":[]}}}', "has no urn"],
])("%s is not a record", (text, expected) => {
  expect(faultOf(text)).toContain(expected);
});
