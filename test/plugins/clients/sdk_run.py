"""Writes and reads a dataset with DataHub's SDK; prints what it read."""

import json
import sys

from datahub.emitter.mcp import MetadataChangeProposalWrapper
from datahub.ingestion.graph.client import DataHubGraph, DatahubClientConfig
from datahub.metadata.schema_classes import (
    DatasetProfileClass,
    DatasetPropertiesClass,
    GlobalTagsClass,
    TagAssociationClass,
)
from datahub.specific.dataset import DatasetPatchBuilder

urn = "urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)"
graph = DataHubGraph(DatahubClientConfig(server=sys.argv[1]))
profile = DatasetProfileClass(timestampMillis=1_772_323_200_000, rowCount=57)
graph.emit_mcps([MetadataChangeProposalWrapper(entityUrn=urn, aspect=profile)])
patch = DatasetPatchBuilder(urn).add_tag(TagAssociationClass("urn:li:tag:pii"))
for proposal in patch.build():
    graph.emit(proposal)

properties = graph.get_aspect(urn, DatasetPropertiesClass)
tags = graph.get_aspect(urn, GlobalTagsClass)
latest = graph.get_latest_timeseries_value(urn, DatasetProfileClass, {})
print(
    json.dumps(
        {
            "description": properties and properties.description,
            "tags": [one.tag for one in tags.tags] if tags else [],
            "found": list(graph.get_urns_by_filter(entity_types=["dataset"], query="orders")),
            "timeseries": latest and latest.rowCount,
        }
    )
)
