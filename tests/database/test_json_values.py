"""JSON clients see values as the engine itself writes them as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memcastle_site.database import values
from palace.store import Store
from palace.store.sessions import EngineSession, SessionHost, array, text

EXPRESSIONS = (
    *("NONE", "NULL", "true", "42", "9223372036854775807", "-5", "1.5f", "1e300", "math::inf", "1.50dec", "'Grüße'", "''"),
    *("d'2020-01-01T00:00:00Z'", "d'2020-01-01T23:59:59.120Z'", "d'1969-12-31T23:59:59.000000001Z'"),
    *("d'0001-01-01T00:00:00Z'", "d'9999-12-31T00:00:00Z'", "d'-0001-02-28T00:00:00Z'", "d'+12000-02-29T00:00:00Z'"),
    *("0ns", "1ns", "1h30m", "1y2w3d4h5m6s7ms8us9ns", "400d"),
    *("u'018f0e2a-0000-7000-8000-000000000000'", "type::table('x')", "type::table('a b')", "<bytes>'abc'"),
    *("t:1", "t:a", "t:⟨a-b⟩", "t:⟨123⟩", "t:⟨a`b⟩", "`a-b`:1", "t:⟨tür⟩", "t:⟨⟩", "t:-5", "t:_x1"),
    "t:[1, 'two', NONE, true, 1.5f, 2dec, d'2020-01-01T00:00:00Z', u'018f0e2a-0000-7000-8000-000000000000', 1h, u:1]",
    *("t:{ a: 1, `b c`: 'it\\'s' }", "t:u'018f0e2a-0000-7000-8000-000000000000'", "t:1..2", "t:a..", "t:..=5"),
    *("t:⟨1a⟩", "t:⟨12_3⟩", "t:⟨12345678901234567890123⟩", "t:⟨true⟩", "t:⟨a\\b⟩", "t:[1]..[2]", "t:⟨a b⟩..", "t:{}", "t:[]"),
    *("t:[1f, 1e21, 1e-7, -0.1f, 123456789.123f]", 't:{ `a"b`: 1, `1a`: 2, a_b: 3, NONE: 4 }', "`select`:1"),
    *("t:[<set>[], <set>[1], <bytes>'aÿ', {}, [NONE, NULL], 1..2, 'a'..'b', u:⟨a b⟩]",),
    *("type::record('t', [\"it's\"])", "type::record('t', ['both \\' and \"'])", "type::record('t', 'nl\\n\\t\\r\\f\\b')"),
    *("1..3", "1>..=3", "..", "'a'..'b'", "1.5f..2.5f"),
    *("<set>[1, 2]", "<set>['a', t:1]", "[1, [2, {a: t:1}]]", "{ a: { b: NONE, c: 1h } }"),
    *("(1.0, 2.5)", "{ type: 'LineString', coordinates: [[1, 2], [3, 4]] }"),
    "{ type: 'Polygon', coordinates: [[[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]] }",
    "{ type: 'MultiPoint', coordinates: [[1.0, 2.0], [3.0, 4.0]] }",
    "{ type: 'MultiLineString', coordinates: [[[1.0, 2.0], [3.0, 4.0]]] }",
    "{ type: 'MultiPolygon', coordinates: [[[[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]]] }",
    "{ type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1.0, 2.0] }] }",
)


@pytest.fixture
async def session(palace: Store) -> Any:
    host = await SessionHost.open(palace)
    opened = await host.open_session()
    await opened.sign_in()
    yield opened
    await opened.close()
    await host.close()


async def test_every_kind_of_value(session: EngineSession) -> None:
    wrong = []
    for expression in EXPRESSIONS:
        sql = f"LET $value = {expression}; RETURN $value; RETURN encoding::json::encode($value);"
        reply = await session.call("query", array(text(sql)))
        assert reply.ok, (expression, values.decode(reply.value))
        _, ours, engine = (entry["result"] for entry in values.decode(reply.value))
        if ours != json.loads(engine):
            wrong.append((expression, ours, json.loads(engine)))
    assert wrong == []
