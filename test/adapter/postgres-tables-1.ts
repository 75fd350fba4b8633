/**
 * The tables of the aspect view in PostgreSQL in version 1, with rows of three entities, one of
 * them deleted. They are frozen, to test the upgrade.
 */
import { createHash } from "node:crypto";

const hashOf = (urn: string): bigint => createHash("sha256").update(urn).digest().readBigInt64BE();

export const tablesOfVersion1 = (name: string): string => `
CREATE SCHEMA "${name}";
SET search_path = "${name}";
CREATE SEQUENCE view_generation;
CREATE TABLE view (
  name text NOT NULL,
  generation bigint NOT NULL,
  edition uuid NOT NULL DEFAULT gen_random_uuid(),
  version integer NOT NULL,
  live boolean NOT NULL,
  model text,
  log text,
  position bigint NOT NULL DEFAULT 0,
  turn bigint NOT NULL DEFAULT 0,
  last_entity bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (name, generation)
) WITH (fillfactor = 20);
CREATE UNIQUE INDEX view_live ON view (name) WHERE live;
CREATE TABLE aspect_name_g1 (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL
);
CREATE TABLE entity_kind_g1 (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  prefix text COLLATE "C" NOT NULL,
  type text
);
CREATE TABLE entity_g1 (
  id bigint PRIMARY KEY,
  hash bigint NOT NULL,
  revision bigint NOT NULL DEFAULT -1,
  kind integer NOT NULL,
  living boolean NOT NULL,
  urn text COLLATE "C" NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX entity_hash_g1 ON entity_g1 (hash);
CREATE INDEX entity_urn_g1 ON entity_g1 (kind, left(urn, 600));
CREATE TABLE aspect_value_g1 (
  entity bigint NOT NULL,
  position bigint NOT NULL,
  revision bigint NOT NULL,
  confirmed bigint,
  removed bigint,
  time bigint NOT NULL,
  aspect integer NOT NULL,
  version integer NOT NULL,
  actor text NOT NULL,
  system text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (entity, aspect, version)
) WITH (fillfactor = 90);

INSERT INTO view (name, generation, version, live, position, turn, last_entity)
VALUES ('aspects', nextval('view_generation'), 1, true, 5, 3, 3);
INSERT INTO aspect_name_g1 (name) VALUES ('tagKey'), ('corpuserKey');
INSERT INTO entity_kind_g1 (prefix, type) VALUES ('urn:li:tag:', 'tag'), ('urn:li:corpuser:', 'corpuser');
INSERT INTO entity_g1 (id, hash, revision, kind, living, urn) VALUES
  (1, ${hashOf("urn:li:tag:a")}, -1, 1, true, 'urn:li:tag:a'),
  (2, ${hashOf("urn:li:tag:b")}, -1, 1, true, 'urn:li:tag:b'),
  (3, ${hashOf("urn:li:corpuser:ada")}, 1, 2, false, 'urn:li:corpuser:ada');
INSERT INTO aspect_value_g1
  (entity, aspect, version, position, revision, removed, time, actor, system, value)
VALUES
  (1, 1, 1, 1, 0, NULL, 1001, 'urn:li:corpuser:ada', '{"lastObserved":1}', '{"name":"a"}'),
  (2, 1, 1, 2, 0, NULL, 1002, 'urn:li:corpuser:ada', '{"lastObserved":2}', '{"name":"b"}'),
  (3, 2, 1, 3, 0, 4, 1003, 'urn:li:corpuser:ada', '{"lastObserved":3}', '{"username":"ada"}');
RESET search_path;
`;
