"""Provides the SSH server that the tests of transports share."""

from __future__ import annotations

from tests.runners.transports.conftest import host_dir, jobs_dir, opened, server, shared_server

__all__ = ["host_dir", "jobs_dir", "opened", "server", "shared_server"]
