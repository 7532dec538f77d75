"""The hub of these tests is one to `huggingface_hub` itself, so that what passes here passes there."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import HfApi, hf_hub_download
from huggingface_hub.errors import GatedRepoError, RemoteEntryNotFoundError, RepositoryNotFoundError

from engine.hub.client import Hub
from tests.hubserver import HubServer

SHARD = "model-00001.safetensors"


def test_the_real_downloader_gets_files_from_it(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    repo = server.repos["tiny/moe"]
    with hub.asking():
        for name in ("config.json", SHARD):
            path = hf_hub_download("tiny/moe", name, endpoint=server.url, local_dir=tmp_path, token=False)
            assert Path(path).read_bytes() == (repo.folder / name).read_bytes()


def test_the_real_api_reads_its_lists(hub: Hub, server: HubServer) -> None:
    repo = server.repos["tiny/moe"]
    with hub.asking() as api:
        assert {f.path for f in api.list_repo_tree("tiny/moe", recursive=True)} == set(repo.files)
        metadata = api.get_safetensors_metadata("tiny/moe")
        assert len(metadata.weight_map) == sum(len(f.tensors) for f in metadata.files_metadata.values())
        assert api.verify_repo_checksums("tiny/moe", local_dir=repo.folder).mismatches == []


def test_the_real_errors(server: HubServer, tmp_path: Path) -> None:
    api = HfApi(server.url, token=False)
    with pytest.raises(RepositoryNotFoundError):
        api.model_info("no/such")
    with pytest.raises(RemoteEntryNotFoundError):
        hf_hub_download("tiny/moe", "no", endpoint=server.url, local_dir=tmp_path, token=False)
    server.repos["tiny/moe"].gated = "auto"
    with pytest.raises(GatedRepoError):
        hf_hub_download("tiny/moe", SHARD, endpoint=server.url, local_dir=tmp_path, token=False)
