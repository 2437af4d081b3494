import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "#ops/free-port.ts";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { writeStarting } from "#ops/processes/installation.ts";
import { launch } from "#ops/programs.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { makeServerDirectory } from "#test/support/database/server-directory.ts";
import { runOp } from "#test/support/processes/op.ts";

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createDatabase();
  folder = await mkdtemp(join(tmpdir(), "faults-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

const settings = async (more: Record<string, string>) => ({
  ...{ PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: folder },
  ...{ PORT: `${await findFreePort()}`, OPERATOR_CONSOLE: "off", LOG_FORMAT: "json" },
  ...{ RPC_URL_1: "http://127.0.0.1:1", RPC_URL_33139: "http://127.0.0.1:1" },
  ...{ FEE_RECIPIENT: "0x000000000000000000000000000000000000a063" },
  ...more,
});

async function start(more: Record<string, string>, ...args: string[]): Promise<ChildProcess> {
  return spawn(process.execPath, launch("service", ...args), {
    cwd: resolve(import.meta.dirname, "../../.."),
    env: await settings(more),
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Of a start that ends by itself. */
async function endOf(more: Record<string, string>, ...args: string[]) {
  const child = await start(more, ...args);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("there is no output");
  const output = Promise.all([text(stdout), text(stderr)]);
  const [code] = (await once(child, "exit")) as [number];
  return { code, words: (await output).join("") };
}

const addressWith = (change: (url: URL) => void): string => {
  const url = new URL(database.url);
  change(url);
  return url.href;
};

const wrong: [what: string, reason: RegExp, url: () => string][] = [
  [
    "password",
    /password authentication failed/,
    () =>
      addressWith((url) => {
        url.password = "wrong";
      }),
  ],
  [
    "absent password",
    /asks for a password/,
    () =>
      addressWith((url) => {
        url.password = "";
      }),
  ],
  [
    "user",
    /authentication failed for user "nobody_here"/,
    () =>
      addressWith((url) => {
        url.username = "nobody_here";
      }),
  ],
  [
    "database",
    /database "nothing_here" does not exist/,
    () =>
      addressWith((url) => {
        url.pathname = "/nothing_here";
      }),
  ],
];

describe.each(wrong)("a wrong %s", (_what, reason, url) => {
  it("ends the start with 78 and one text that names the setting and the server", async () => {
    const { code, words } = await endOf({ DATABASE_URL: url() });
    expect([code, words.match(/DATABASE_URL: /g)?.length]).toEqual([78, 1]);
    expect(words).toMatch(reason);
    expect(words).toContain(`at ${new URL(url()).host} refuses it`);
  });

  it("of a process's own user names that user's setting, also where a role runs alone", async () => {
    const addresses = { DATABASE_URL: database.url, DATABASE_URL_API: url() };
    for (const args of [[], ["--only", "api"]]) {
      const { code, words } = await endOf(addresses, ...args);
      expect([code, words.match(/DATABASE_URL_API: /g)?.length]).toEqual([78, 1]);
    }
  });

  it("ends an operator's command with the setting's name", async () => {
    const environment = (await settings({ DATABASE_URL: url() })) as Record<string, string>;
    const { code, stderr } = await runOp(environment, "status");
    expect([code, stderr]).toEqual([78, expect.stringMatching(/DATABASE_URL: .* refuses it/)]);
  });
});

it("a port that nothing listens on is logged once, by setting and server, and waited for", async () => {
  const port = await findFreePort();
  const child = await start({ DATABASE_URL: `postgres://one:two@127.0.0.1:${port}/orders` });
  const lines: string[] = [];
  let onConnection = () => {};
  const connected = new Promise<void>((settle) => {
    let times = 0;
    onConnection = () => {
      times += 1;
      if (times === 2) settle();
    };
  });
  child.stdout?.on("data", (data) => lines.push(...`${data}`.split("\n").filter(Boolean)));
  const about = () => lines.filter((line) => line.includes("does not answer"));
  await expect.poll(() => about().length).toBe(1);
  expect(JSON.parse(about()[0] ?? "")).toMatchObject({
    setting: "DATABASE_URL",
    server: `127.0.0.1:${port}`,
  });
  // It goes on to try: two more tries reach a server that hangs up.
  const server = createServer((socket) => {
    onConnection();
    socket.destroy();
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  await connected;
  expect(about().filter((line) => line.includes("ECONNREFUSED"))).toHaveLength(1);
  child.kill("SIGTERM");
  await once(child, "exit");
  server.close();
});

it("the example for a taken port names none that is taken or that is set for something else", async () => {
  const servers = [createServer(), createServer()];
  const port = await findFreePort();
  for (const [index, server] of servers.entries())
    await once(server.listen(port + index, "127.0.0.1"), "listening");
  const { code, words } = await endOf({
    ...{ DATABASE_URL: database.url, PORT: `${port}` },
    ...{ OPERATOR_CONSOLE: "on", OPERATOR_PORT: `${port + 2}`, METRICS_PORT: `${port + 3}` },
  });
  expect([code, words]).toEqual([78, expect.stringMatching(/PORT: cannot listen/)]);
  const example = Number(/Example: PORT=(\d+)/.exec(words)?.[1]);
  expect(example).toBeGreaterThan(port + 3);
  for (const server of servers) server.close();
});

it("op says that a service is starting in the directory", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "starting-"));
  writeStarting(dataDir);
  const { code, stderr } = await runOp({ DATA_DIR: dataDir }, "status");
  expect([code, stderr]).toEqual([1, expect.stringContaining("is starting")]);
  await rm(dataDir, { recursive: true });
});

it("the embedded database keeps its port, gives way where that is taken, and takes one that is set", async () => {
  const dataDir = await makeServerDirectory();
  const run = async (port?: number) => {
    const server = await startPostgres({
      ...{ dataDir, logger: pino({ level: "silent" }), durable: false },
      ...(port === undefined ? {} : { port }),
    });
    await server.stop();
    return server.port;
  };
  const first = await run();
  expect(await run()).toBe(first);
  const wanted = await findFreePort();
  expect(await run(wanted)).toBe(wanted);
  expect(await run()).toBe(first);
  const other = createServer();
  await once(other.listen(first, "127.0.0.1"), "listening");
  const second = await run();
  expect(second).not.toBe(first);
  await expect(run(first)).rejects.toThrow(`port ${first} is taken`);
  other.close();
  expect(await run()).toBe(second);
  await rm(dataDir, { recursive: true, force: true });
});
