/** What the examples of the documentation are about: one table of a small shop. */

export const orders = "urn:li:dataset:(urn:li:dataPlatform:postgres,shop.public.orders,PROD)";
/** The same as a key in a path. */
export const ordersKey = encodeURIComponent(orders);

export const ordersProposal = {
  entityType: "dataset",
  entityUrn: orders,
  changeType: "UPSERT",
  aspectName: "datasetProperties",
  aspect: {
    value:
      '{"name":"orders","description":"One row per order","customProperties":{"tier":"gold"},"tags":[]}',
    contentType: "application/json",
  },
  systemMetadata: { lastObserved: 1772409600000, runId: "nightly-schema" },
};

export const ordersSnapshot = {
  value: {
    "com.linkedin.metadata.snapshot.DatasetSnapshot": {
      urn: orders,
      aspects: [
        {
          "com.linkedin.common.Ownership": {
            owners: [{ owner: "urn:li:corpuser:mira", type: "DATAOWNER" }],
            lastModified: { time: 1772409600000, actor: "urn:li:corpuser:mira" },
          },
        },
        { "com.linkedin.common.Status": { removed: false } },
      ],
    },
  },
};

export const ordersEntity = {
  urn: orders,
  entityName: "dataset",
  aspects: {
    datasetKey: {
      name: "datasetKey",
      type: "VERSIONED",
      version: 0,
      value: {
        platform: "urn:li:dataPlatform:postgres",
        name: "shop.public.orders",
        origin: "PROD",
      },
      created: { time: 1772409600120, actor: "urn:li:corpuser:__datahub_system" },
    },
    status: {
      name: "status",
      type: "VERSIONED",
      version: 0,
      value: { removed: false },
      created: { time: 1772409600120, actor: "urn:li:corpuser:mira" },
      systemMetadata: { lastObserved: 1772409600000, runId: "nightly-schema", version: "1" },
    },
  },
};

export const ordersSnapshotReply = {
  value: {
    "com.linkedin.metadata.snapshot.DatasetSnapshot": {
      urn: orders,
      aspects: [
        {
          "com.linkedin.metadata.key.DatasetKey": {
            platform: "urn:li:dataPlatform:postgres",
            name: "shop.public.orders",
            origin: "PROD",
          },
        },
        { "com.linkedin.common.Status": { removed: false } },
      ],
    },
  },
};
