"""How often does Snakemake ask for the state of jobs in the tests?

This module is imported in the process of Snakemake, before anything of the project that is tested.
"""

from __future__ import annotations

import asyncio


def query_often() -> None:
    """Let executors query the state of jobs every second, which takes less time than the settings of a real cluster."""
    from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

    async def pause(executor: RemoteExecutor) -> None:
        await asyncio.sleep(1.0)

    RemoteExecutor.sleep = pause
