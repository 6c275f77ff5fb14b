"""LlamaIndex's ingestion of the same files, for `ingest.py --peer`: read, cut, remember; a second run reads nothing again."""

from __future__ import annotations

import json
import resource
import sys
import time
from importlib.metadata import version

from llama_index.core import SimpleDirectoryReader
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore


def run(folder: str, pipeline: IngestionPipeline) -> tuple[int, int, float]:
    """Read the folder: documents, nodes that were made, seconds."""
    began = time.perf_counter()
    documents = SimpleDirectoryReader(folder, recursive=True, filename_as_id=True).load_data()
    nodes = pipeline.run(documents=documents)
    return len(documents), len(nodes), time.perf_counter() - began


def main() -> None:
    folder, kept = sys.argv[1:3]
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=300, chunk_overlap=0)],
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.DUPLICATES_ONLY,
    )
    began = time.process_time()
    documents, nodes, seconds = run(folder, pipeline)
    written = time.perf_counter()
    pipeline.persist(kept)
    seconds += time.perf_counter() - written
    cpu, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, again, again_s = run(folder, pipeline)
    told = {
        "version": version("llama-index-core"),
        "documents": documents,
        "nodes": nodes,
        "seconds": round(seconds, 1),
    }
    told |= {"cpu_s": round(cpu, 1), "mb": round(peak / 1024), "again_nodes": again, "again_seconds": round(again_s, 1)}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
