"""Many honest bots that come back whenever they are thrown out: URL COUNT SECONDS-TO-THINK [NAME]."""

import asyncio
import random
import sys

from testkit.players import Player


async def main() -> None:
    """Play until killed."""
    url, count, think = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    name = sys.argv[4] if len(sys.argv) > 4 else "bot"
    async with asyncio.TaskGroup() as tasks:
        for number in range(count):
            player = Player(url, f"{name} {number}", lambda: random.uniform(0, think))
            tasks.create_task(player.run())


asyncio.run(main())
