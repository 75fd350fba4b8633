/** The links that an aspect may have. */
import { describe, expect, test } from "vitest";
import { type LinkPath, rejectionOfLinks } from "../../src/core/rules/link-rules.ts";

const memory = (...urls: readonly string[]) => ({ elements: urls.map((url) => ({ url })) });
const paths: readonly LinkPath[] = [
  { path: ["elements", "*", "url"], kind: "fetched" },
  { path: ["pictureLink"], kind: "picture" },
  { path: ["externalUrl"], kind: "page" },
  { path: ["params", "one", "linkUrl"], kind: "page" },
];
const rejection = (value: object, previous?: object) =>
  rejectionOfLinks("institutionalMemory", { ...value }, previous && { ...previous }, paths);

describe("a link is accepted", () => {
  test.each([
    "https://wiki.example.com/orders?x=1#y",
    "http://wiki/orders",
    "HTTP://EXAMPLE.COM",
    "ftp://files.example.com/a",
    "mailto:mira@example.com",
    "mailto:mira@localhost",
    "https://8.8.8.8/",
    "https://172.32.0.1/",
    "https://[2606:4700::1111]/",
    "https://localhost.example.com/",
    "https://127.example.com/",
  ])("the link %s is accepted", (url) => {
    expect(rejection(memory(url))).toBeUndefined();
    expect(rejection({ pictureLink: url })).toBeUndefined();
  });

  test("a picture may be an asset of the web app, or absent", () => {
    for (const pictureLink of ["", " ", "assets/platforms/default_avatar.png", "/assets/a.png"]) {
      expect(rejection({ pictureLink })).toBeUndefined();
    }
  });

  test("a picture may be in the link itself, but not one that may contain scripts", () => {
    expect(rejection({ pictureLink: "data:image/png;base64,iVBORw0KGgo=" })).toBeUndefined();
    expect(rejection({ pictureLink: "data:image/svg+xml,<svg/>" })).toBeDefined();
    expect(rejection(memory("data:image/png;base64,iVBORw0KGgo="))).toBeDefined();
  });

  test("a link that the aspect already has may be written again", () => {
    const older = memory("javascript:alert(1)");
    expect(rejection(older, older)).toBeUndefined();
    expect(rejection(memory("javascript:alert(1)", "data:,x"), older)?.message).toContain(
      "/elements/1/url",
    );
  });
});

describe("a link is rejected", () => {
  test.each([
    ["javascript:alert(1)", "URL scheme 'javascript' is not allowed"],
    [" JaVaScRiPt:alert(1)", "URL scheme 'javascript' is not allowed"],
    ["java\nscript:alert(1)", "URL scheme 'javascript' is not allowed"],
    ["data:text/html,x", "URL scheme 'data' is not allowed"],
    ["file:///etc/passwd", "URL scheme 'file' is not allowed"],
    ["gopher://example.com", "URL scheme 'gopher' is not allowed"],
    ["www.example.com", "not a URL"],
    ["", "not a URL"],
  ])("the link %j is rejected for its scheme", (url, says) => {
    const found = rejection(memory("https://example.com", url));
    expect(found).toMatchObject({ code: "invalid" });
    expect(found?.message).toContain("/elements/1/url");
    expect(found?.message).toContain(says);
  });

  test.each([
    "http://localhost:8080/",
    "http://LOCALHOST./",
    "http://a.localhost/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://0.0.0.0/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://100.100.100.200/",
    "http://[::1]/",
    "http://[::]/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://user:secret@127.0.0.1:8000/",
    "ftp://127.0.0.1/",
    "https://１２７.0.0.1/",
  ])("the link %s is rejected for its address", (url) => {
    expect(rejection(memory(url))?.message).toContain("loopback, link-local or private");
    expect(rejection({ pictureLink: url })?.message).toContain("/pictureLink");
  });
});

describe("a page link", () => {
  test.each([
    ...["https://example.com/a", "HTTP://localhost:8080/dag", "http://10.0.0.1/", "", " "],
    ...["/ui/x", "assets/a.png", "www.example.com/a", "//example.com", "a b", "http://["],
    ...["git@github.com:acme/shop.git", "ssh://git@github.com/acme/shop.git", "s3://bucket/key"],
    ...["mailto:a@b.c", "file:///data/seeds.csv", "data:image/png;base64,iVBORw0KGgo="],
  ])("the page link %j is accepted", (url) => {
    expect(rejection({ externalUrl: url })).toBeUndefined();
    expect(rejection({ params: { one: { linkUrl: url } } })).toBeUndefined();
  });

  test.each([
    ["javascript:alert(1)", "javascript"],
    [" \u0001JaVaScRiPt:alert(1)", "javascript"],
    ["java\tscript:alert(1)", "javascript"],
    ["data:text/html,<script>", "data"],
    ["vbscript:x", "vbscript"],
    ["data:,image/png", "data"],
    ["data:image/svg+xml,<svg><script>1</script></svg>", "data"],
  ])("the page link %j is rejected for its scheme", (url, scheme) => {
    const says = `URL scheme '${scheme}' is not allowed`;
    const top = rejection({ externalUrl: url });
    expect(top).toMatchObject({ code: "invalid", hint: "Use http or https" });
    expect(top?.message).toContain(`/externalUrl: link`);
    expect(top?.message).toContain(says);
    expect(rejection({ params: { one: { linkUrl: url } } })?.message).toContain(
      "/params/one/linkUrl",
    );
    expect(rejection({ externalUrl: url }, { externalUrl: url })).toBeUndefined();
  });
});
