// Uses the endpoint as a JavaScript program would and prints what it got, one JSON object.
import { RecordId, Surreal, Table } from "surrealdb";
import { WebSocket } from "ws";

const [url, password] = process.argv.slice(2);
const found = {};
const failure = async (action) => {
    try {
        await action();
        return null;
    } catch (error) {
        return error.constructor.name;
    }
};

const db = new Surreal({ websocketImpl: WebSocket });
await db.connect(url, {
    namespace: "memcastle",
    database: "javascript",
    authentication: { username: "memcastle", password },
});
// A database that was chosen before signing in is not made by choosing it.
await db.query("DEFINE DATABASE IF NOT EXISTS javascript; DEFINE DATABASE IF NOT EXISTS other");
found.version = (await db.version()).version;
found.query = await db.query("RETURN $a; RETURN 2", { a: [1, "two"] });

const one = new RecordId("js", "one");
found.create = await db.create(one).content({ a: 1 });
found.update = await db.update(one).merge({ b: 2 });
found.patch = await db.update(one).patch([{ op: "add", path: "/c", value: 3 }]);
found.upsert = await db.upsert(new RecordId("js", "two")).content({ b: 2 });
found.insert = await db.insert(new Table("js"), [{ id: 5 }]);
found.relate = (await db.relate(one, new Table("likes"), new RecordId("js", "two"))).out;
found.select = await db.select(new Table("js"));
found.delete = await db.delete(one);
found.run = await db.run("string::uppercase", ["a"]);

await db.set("v", 5);
found.variable = await db.query("RETURN $v");
const session = await db.newSession();
await session.signin({ username: "memcastle", password });
await session.use({ namespace: "memcastle", database: "other" });
found.session = await session.query("RETURN [session::db(), $v]");
await session.closeSession();

found.errors = {
    exists: await failure(() => db.query("CREATE js:5")),
    thrown: await failure(() => db.query("THROW 'x'")),
    parse: await failure(() => db.query("FOO BAR")),
    transaction: await failure(() => db.beginTransaction()),
    signin: await failure(() => db.signin({ username: "memcastle", password: "nope" })),
};
found.after = await db.query("RETURN session::db()");
await db.close();
console.log(JSON.stringify(found));
