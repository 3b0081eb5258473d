"""What daphne's protocol classes lack, added to them: one object a connection, one a request, one a WebSocket.

Stock daphne buffers without bound for a client that does not read, takes bodies of any size, holds back the head of an
event stream until its first event, and answers its own refusals as HTML.
"""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from twisted.web.http import HTTPChannel
from twisted.web.http_headers import Headers as ResponseHeaders

from memcastle_site.errors import ServerFailed
from memcastle_site.gate.answers import Headers, json_body, secured
from palace.errors import InvalidInput, MemCastleError

if TYPE_CHECKING:
    from memcastle_site.daemon.front import Front

MAX_BODY = 64 * 1024 * 1024
LINGER_SECONDS = 5.0
"""How long a client that was refused in the middle of its request may go on sending before its connection is cut."""

INBOX_MESSAGES = 32
INBOX_BYTES = 1024 * 1024
"""What may wait for the application before its client has to."""

GOING_AWAY = 1001
INTERNAL_ERROR = 1011

logger = logging.getLogger("memcastle.front")


class Channel(HTTPChannel):  # type: ignore[misc]
    """One HTTP connection. `writable` is cleared while the client reads more slowly than we write."""

    def __init__(self) -> None:
        super().__init__()
        self.writable = asyncio.Event()
        self.writable.set()
        self._linger: Any = None

    def connectionMade(self) -> None:  # noqa: N802
        super().connectionMade()
        self.factory.server.opened(self.transport)

    def connectionLost(self, reason: Any) -> None:  # noqa: N802
        self.writable.set()
        if self._linger is not None and self._linger.active():
            self._linger.cancel()
        super().connectionLost(reason)
        self.factory.server.lost(self.transport)

    def pauseProducing(self) -> None:  # noqa: N802
        self.writable.clear()
        super().pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802
        self.writable.set()
        super().resumeProducing()

    def loseConnection(self) -> None:  # noqa: N802
        self.writable.set()
        super().loseConnection()

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802
        self._respondToBadRequestAndDisconnect()

    def _respondToBadRequestAndDisconnect(self) -> None:  # noqa: N802
        self.refuse(InvalidInput("request", "it is not HTTP/1.1, or its head is longer than 16 KiB"))

    def refuse(self, error: MemCastleError) -> None:
        """Answers a request that will not be read to its end, and closes.

        Only our half closes at once: a connection closed over unread data is reset, and the client would lose the answer.
        What it still sends is dropped unseen.
        """
        body = json_body(error)
        headers = secured([(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))])
        head = b"".join(b"%s: %s\r\n" % header for header in [*headers, (b"connection", b"close")])
        logger.warning("request refused", extra={"code": error.code, "status": error.status})
        self.setTimeout(None)
        self.clearLineBuffer()
        self.dataReceived = lambda data: None
        self.transport.write(b"HTTP/1.1 %d Bad Request\r\n%s\r\n%s" % (error.status, head, body))
        self.transport.loseWriteConnection()
        self._linger = self.callLater(LINGER_SECONDS, self.transport.abortConnection)


class Request(WebRequest):  # type: ignore[misc]
    """One HTTP request and its answer."""

    server: Front
    _refused = False
    _received = 0

    def __init__(self, channel: Channel, *args: Any) -> None:
        # Forms are the application's to parse; Twisted would read every body a second time.
        super().__init__(channel, *args, parsePOSTFormSubmission=False)

    def gotLength(self, length: int | None) -> None:  # noqa: N802
        too_large = length is not None and length > MAX_BODY
        super().gotLength(0 if too_large else length)
        if too_large:
            self._refuse_body()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        if self._refused:
            return
        self._received += len(data)
        if self._received > MAX_BODY:
            self._refuse_body()
        else:
            super().handleContentChunk(data)

    def _refuse_body(self) -> None:
        self._refused = True
        self.requestHeaders.removeHeader(b"expect")
        self.channel.refuse(InvalidInput("body", f"it is larger than {MAX_BODY:,} bytes"))

    def process(self) -> Any:
        if self._refused:
            return None
        # daphne lets this header move the path that the application routes by; nobody in front of us needs it.
        self.requestHeaders.removeHeader(b"daphne-root-path")
        return super().process()

    def handle_reply(self, message: dict[str, Any]) -> None:
        if message["type"] != "http.response.start" or self.finished or self._disconnected:
            super().handle_reply(message)
            return
        headers = list(message.get("headers", ()))
        super().handle_reply({**message, "headers": self._without_connection_header(headers)})
        if any(name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in headers):
            # The client learns that its stream stands before the first event happens.
            self.write(b"")

    def _without_connection_header(self, headers: Headers) -> Headers:
        """The headers without `connection`, which is the server's: it says, and does, what the application asked for."""
        asked = any(name.lower() == b"connection" and value.lower() == b"close" for name, value in headers)
        if asked or self.server.closing or not self.channel.persistent:
            self.channel.persistent = False
            self.responseHeaders.setRawHeaders(b"connection", [b"close"])
        return [(name, value) for name, value in headers if name.lower() != b"connection"]

    async def drained(self) -> None:
        """Waits until the client has taken enough of what was written, or is gone."""
        if not (self.finished or self._disconnected):
            await self.channel.writable.wait()

    def answer(self, error: MemCastleError) -> None:
        """Ends the exchange with this error; an answer whose head is already on its way is cut off instead."""
        if self.finished or self._disconnected:
            return
        if self.startedWriting:
            self.channel.transport.abortConnection()
            return
        body = json_body(error)
        self._response_started = False
        self.responseHeaders = ResponseHeaders()
        headers = secured([(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))])
        self.handle_reply({"type": "http.response.start", "status": error.status, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": body})

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """daphne's own refusals, with our body."""
        reason = body[:1].lower() + body[1:]
        if status == 400 and not (self.finished or self._disconnected):
            self.channel.persistent = False
        self.answer(InvalidInput("request", reason) if status == 400 else ServerFailed(f"the request failed: {reason}"))

    def ended(self, error: BaseException | None) -> None:
        """The application returned, or failed with `error`: an answer that it left open is ended here."""
        self.answer(ServerFailed("the daemon failed to answer this request"))


class Inbox(asyncio.Queue[Any]):
    """Messages of one WebSocket on their way to the application; while it is full nothing more is read."""

    def __init__(self, socket: Socket) -> None:
        super().__init__()
        self._socket = socket
        self._bytes = 0

    @property
    def crowded(self) -> bool:
        return self.qsize() >= INBOX_MESSAGES or self._bytes >= INBOX_BYTES

    def put_nowait(self, item: Any) -> None:
        super().put_nowait(item)
        self._bytes += _size(item)
        self._socket.read_if_wanted()

    def get_nowait(self) -> Any:
        item = super().get_nowait()
        self._bytes -= _size(item)
        self._socket.read_if_wanted()
        return item


def _size(message: Any) -> int:
    return len(message.get("bytes") or message.get("text") or "")


class Socket(WebSocketProtocol):  # type: ignore[misc]
    """One WebSocket. `writable` is cleared, and nothing more is read, while the client does not take what we write.

    The application may refuse the upgrade with an HTTP answer of its own (ASGI's extension `websocket.http.response`).
    """

    application_queue: Inbox
    maxMessagePayloadSize: int  # noqa: N815
    _denial: Any = None

    def connectionMade(self) -> None:  # noqa: N802
        self.writable = asyncio.Event()
        self.writable.set()
        self.front.opened(self.transport)
        # The HTTP channel of the upgrade is still registered.
        self.transport.unregisterProducer()
        self.transport.registerProducer(self, True)
        super().connectionMade()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802
        self.writable.set()
        super().connectionLost(reason)
        self.front.lost(self.transport)

    @property
    def front(self) -> Front:
        server: Front = self.factory.server_class
        return server

    def pauseProducing(self) -> None:  # noqa: N802
        self.writable.clear()
        self.transport.pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802
        self.writable.set()
        self.read_if_wanted()

    def stopProducing(self) -> None:  # noqa: N802
        self.writable.set()

    def read_if_wanted(self) -> None:
        """Reads on, or stops reading, as both directions allow."""
        if not self.transport.connected:
            return
        inbox = getattr(self, "application_queue", None)
        if self.writable.is_set() and not (inbox is not None and inbox.crowded):
            self.transport.resumeProducing()
        else:
            self.transport.pauseProducing()

    def sendMessage(self, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        if self.state in (self.STATE_CLOSING, self.STATE_CLOSED):
            # The goodbye was faster than the answer. The client hears nothing any more, as if it had left.
            return
        # autobahn holds what we send to the limit of what we take.
        limit, self.maxMessagePayloadSize = self.maxMessagePayloadSize, 0
        try:
            super().sendMessage(*args, **kwargs)
        finally:
            self.maxMessagePayloadSize = limit

    def handle_reply(self, message: Any) -> None:
        match message["type"]:
            case "websocket.http.response.start":
                self._denial = message
            case "websocket.http.response.body":
                self._deny(message.get("body", b""))
            case _:
                super().handle_reply(message)

    def _deny(self, body: bytes) -> None:
        """Answers the upgrade with HTTP, in one piece, and closes."""
        if not hasattr(self, "handshake_deferred"):
            return
        headers = [(b"content-length", b"%d" % len(body)), (b"connection", b"close")]
        headers = [*secured(self._denial["headers"]), *headers]
        status = self._denial["status"]
        reason = HTTPStatus(status).phrase.encode()
        head = b"".join(b"%s: %s\r\n" % header for header in headers)
        self.transport.write(b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (status, reason, head, body))
        del self.handshake_deferred
        self.server.protocol_disconnected(self)
        self.transport.unregisterProducer()
        self.transport.loseConnection()

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:  # noqa: N802, N803
        # A handshake that failed before it reached the application has nobody to tell.
        if hasattr(self, "server"):
            super().onClose(wasClean, code, reason)

    async def drained(self) -> None:
        """Waits until the client has taken enough of what was written, or is gone."""
        await self.writable.wait()

    def answer(self, error: MemCastleError) -> None:
        """Ends the connection because the daemon stops."""
        self.say_goodbye()

    def say_goodbye(self) -> None:
        """Tells the client that the daemon is going away."""
        if self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=GOING_AWAY, reasonUtf8=b"the daemon is stopping", isReply=False)

    def ended(self, error: BaseException | None) -> None:
        """The application returned, or failed with `error`: a connection that it left open is closed."""
        if self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=INTERNAL_ERROR if error else self.CLOSE_STATUS_CODE_NORMAL, isReply=False)
        elif hasattr(self, "handshake_deferred"):
            self.serverReject()


class HttpConnections(HTTPFactory):  # type: ignore[misc]
    """Makes the channel of every accepted connection. Nothing is written to Twisted's access log."""

    protocol = Channel

    def buildProtocol(self, addr: Any) -> Channel:  # noqa: N802
        channel: Channel = super().buildProtocol(addr)
        channel.requestFactory = Request
        return channel

    def startFactory(self) -> None:  # noqa: N802
        pass

    def stopFactory(self) -> None:  # noqa: N802
        pass

    def log(self, request: Request) -> None:
        pass


class Sockets(WebSocketFactory):  # type: ignore[misc]
    """Makes the protocol of every connection that is upgraded to a WebSocket."""

    protocol = Socket
