import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

/**
 * ClickHouse's own engine (chDB, in this process) behind the part of its HTTP interface that a sync uses: statements as
 * the body, or in `query` with rows as the body. Arguments: port, directory of the data.
 */
type Session = {
  query(statement: string, format?: string): string;
  queryAsync(statement: string, options: { format: string }): Promise<{ text(): string }>;
  insert(rows: {
    table: string;
    values: Buffer;
    format: "CSV";
    settings: Record<string, string>;
  }): Promise<unknown>;
};

const [port = "8123", directory = "clickhouse-data"] = process.argv.slice(2);
// Installed in this folder alone.
const packageName: string = "chdb";
const { Session } = (await import(packageName)) as { Session: new (path: string) => Session };
const session = new Session(directory);
session.query("create database if not exists analytics");
session.query("use analytics");

async function answer(request: IncomingMessage): Promise<string> {
  const parameters = new URL(request.url ?? "/", "http://localhost").searchParams;
  const statement = parameters.get("query");
  const body = await buffer(request);
  if (statement === null)
    return (await session.queryAsync(body.toString(), { format: "TabSeparated" })).text();
  const table = /^insert into (\S+) format CSV$/.exec(statement)?.[1];
  if (table === undefined) throw new Error(`not understood: ${statement}`);
  const settings = { date_time_input_format: "best_effort" };
  if (body.length > 0) await session.insert({ table, values: body, format: "CSV", settings });
  return "";
}

// One at a time: a session runs one statement.
let last: Promise<unknown> = Promise.resolve();
const server = createServer((request, response) => {
  last = last.then(async () => {
    try {
      const text = await answer(request);
      response.writeHead(200).end(text);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
});
server.listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
