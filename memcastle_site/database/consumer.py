"""The WebSocket of one client, as a Channels consumer."""

from __future__ import annotations

from typing import Any

from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer

from memcastle_site.database.codecs import CODECS
from memcastle_site.database.dialogue import Dialogue


class DatabaseConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Speaks the subprotocol that the client asked for: `cbor`, `json`, or JSON when it asked for nothing known."""

    dialogue: Dialogue | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._end()

    async def dispatch(self, message: Any) -> None:
        """As Channels does it, without looking after SQL connections, which would cost a thread a message."""
        match message["type"]:
            case "websocket.connect":
                await self._begin()
            case "websocket.receive":
                assert self.dialogue is not None
                frame = message.get("bytes")
                await self.dialogue.receive(message["text"] if frame is None else frame)
            case "websocket.disconnect":
                await self._end()
                raise StopConsumer

    async def _begin(self) -> None:
        offered = self.scope["subprotocols"]
        chosen = next((name for name in CODECS if name in offered), None)
        endpoint = self.scope["endpoint"]
        self.dialogue = Dialogue(
            endpoint.host,
            endpoint.credentials,
            CODECS[chosen or "json"],
            self._write,
            self._hang_up,
            vouched=self.scope["vouched"],
        )
        endpoint.dialogues.add(self.dialogue)
        await self.dialogue.open()
        await self.accept(chosen)

    async def _end(self) -> None:
        dialogue, self.dialogue = self.dialogue, None
        if dialogue is not None:
            self.scope["endpoint"].dialogues.discard(dialogue)
            await dialogue.close()

    async def _write(self, frame: bytes | str) -> None:
        if isinstance(frame, str):
            await self.send(text_data=frame)
        else:
            await self.send(bytes_data=frame)

    async def _hang_up(self, code: int) -> None:
        await self.close(code=code)
