/** Charts, dashboards, notebooks, jobs, flows and their runs. */
import { objectsIn, stringsIn } from "../../../lib/json.ts";
import { platformOf } from "../../queries/entity-values.ts";
import type { Mapping } from "../mapping.ts";

const audited = {
  created: "lastModified/created",
  lastModified: "lastModified/lastModified",
  deleted: "lastModified/deleted",
};

/** The urns of a list and of the edges that replaced it. */
const withEdges = (urns: unknown, edges: unknown): readonly string[] => [
  ...new Set([
    ...stringsIn(urns),
    ...stringsIn(objectsIn(edges).map(({ destinationUrn }) => destinationUrn)),
  ]),
];

const chart = {
  ...audited,
  name: "title",
  inputs: ({ inputs, inputEdges }: Readonly<Record<string, unknown>>) => [
    ...withEdges(
      Array.isArray(inputs) ? inputs.flatMap((one) => Object.values(one ?? {})) : [],
      inputEdges,
    ),
  ],
};

const dashboard = {
  ...audited,
  name: "title",
  charts: ({ charts, chartEdges }: Readonly<Record<string, unknown>>) =>
    withEdges(charts, chartEdges),
};

export const chartsAndJobs: Mapping = {
  entities: {
    Chart: {
      tool: "key/dashboardTool",
      chartId: "key/chartId",
      info: "chartInfo",
      editableInfo: "editableChartProperties",
      query: "chartQuery",
      inputFields: "inputFields",
    },
    Dashboard: {
      tool: "key/dashboardTool",
      dashboardId: "key/dashboardId",
      info: "dashboardInfo",
      editableInfo: "editableDashboardProperties",
      inputFields: "inputFields",
    },
    Notebook: {
      tool: "key/notebookTool",
      notebookId: "key/notebookId",
      info: "notebookInfo",
      content: "notebookContent",
    },
    DataJob: {
      jobId: "key/jobId",
      dataFlow: "key/flow",
      info: "dataJobInfo",
      inputOutput: "dataJobInputOutput",
      dataTransformLogic: "dataTransformLogic",
      platform: async (entity, viewer) => {
        const { flow } = entity.key();
        return typeof flow === "string" ? platformOf(await viewer.loader.load(flow), viewer) : null;
      },
    },
    DataFlow: {
      orchestrator: "key/orchestrator",
      flowId: "key/flowId",
      cluster: "key/cluster",
      info: "dataFlowInfo",
    },
    DataProcessInstance: {
      created: "dataProcessInstanceProperties/created",
      externalUrl: "dataProcessInstanceProperties/externalUrl",
      mlTrainingRunProperties: "mlTrainingRunProperties",
      parentTemplate: "dataProcessInstanceRelationships/parentTemplate",
    },
  },
  values: {
    ChartProperties: chart,
    ChartInfo: chart,
    DashboardProperties: dashboard,
    DashboardInfo: dashboard,
    DataJobInputOutput: {
      inputDatasets: ({ inputDatasets, inputDatasetEdges }) =>
        withEdges(inputDatasets, inputDatasetEdges),
      outputDatasets: ({ outputDatasets, outputDatasetEdges }) =>
        withEdges(outputDatasets, outputDatasetEdges),
      inputDatajobs: ({ inputDatajobs, inputDatajobEdges }) =>
        withEdges(inputDatajobs, inputDatajobEdges),
    },
    NotebookCell: { queryChell: "queryCell" },
  },
};
