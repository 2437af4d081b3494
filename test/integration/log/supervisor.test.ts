import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { sql } from "kysely";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findFreePort } from "#ops/free-port.ts";
import { startTimeOf } from "#ops/postgres/live-processes.ts";
import {
  keepRunning,
  type OrphanGuard,
  startChild,
  startOrphanGuard,
} from "#ops/processes/child.ts";
import { launch } from "#ops/programs.ts";
import { withLock } from "#projections/log/named-lock.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const root = resolve(import.meta.dirname, "../../..");
let directory: string;
let orphanGuard: OrphanGuard;
let lines: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "supervisor-"));
  orphanGuard = startOrphanGuard();
  lines = [];
});

afterEach(async () => {
  orphanGuard.killAll();
  await rm(directory, { recursive: true, force: true });
});

const until = (isSo: () => unknown, timeout = 300_000) =>
  vi.waitFor(() => expect(isSo()).toBeTruthy(), { timeout, interval: 20 });

function main(args: string[], variables: Record<string, string>): ChildProcess {
  return spawn(process.execPath, launch("service", ...args), {
    cwd: root,
    env: { PATH: "/usr/bin:/bin", DATA_DIR: directory, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function outcome(child: ChildProcess): Promise<{ code: number; errors: string }> {
  const errors = child.stderr ? text(child.stderr) : "";
  const [code] = (await once(child, "exit")) as [number];
  return { code, errors: await errors };
}

/** Runs a short program as a child process and collects its lines. */
async function startProgram(program: string) {
  const script = join(directory, "part.mjs");
  await writeFile(script, program);
  return startChild({
    name: "part",
    script: [script],
    environment: { PATH: "/usr/bin:/bin" },
    orphanGuard: orphanGuard,
    sink: (line) => lines.push((JSON.parse(line) as { msg: string }).msg),
  });
}

function watchedLogger() {
  const logged: { msg: string; reason: string; restartInMs: number }[] = [];
  const write = (line: string) => void logged.push(JSON.parse(line));
  return { logger: pino({}, { write }), logged };
}

describe("a service that migrates", () => {
  it("stops in time, and leaves no statement behind", async () => {
    const database = await createDatabase({ template: "projected" });
    const asking = async () => {
      const { rows } = await sql`
        select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock'`.execute(database.db);
      return rows.length;
    };
    try {
      await withLock(database.db, "migrations", async () => {
        const service = main([], { DATABASE_URL: database.url, PORT: `${await findFreePort()}` });
        const ended = once(service, "exit");
        await expect.poll(asking, { timeout: 120_000 }).toBe(1);
        service.kill("SIGTERM");

        const late = new Promise((resolve) => setTimeout(resolve, 20_000, "late"));
        expect(await Promise.race([ended, late])).toEqual([0, null]);
        expect(await asking()).toBe(0);
      });
    } finally {
      await database.drop();
    }
  });
});

describe("the command line", () => {
  it("lists every problem of the configuration and exits 78", async () => {
    const { code, errors } = await outcome(main([], { PORT: "x", RPC_URL_1: "x", FEE_BPS: "-1" }));

    expect(code).toBe(78);
    for (const name of ["PORT", "RPC_URL_1", "FEE_BPS", "FEE_RECIPIENT"]) {
      expect(errors).toContain(`  ${name}: expected`);
    }
  });

  it("exits 78 when the port is taken, before it starts anything", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;

    const { code, errors } = await outcome(main([], { PORT: `${port}` }));

    expect(code).toBe(78);
    expect(errors).toContain(`PORT: cannot listen on 127.0.0.1 port ${port} (EADDRINUSE)`);
    server.close();
  });

  it("waits for a port that is let go soon, as by what a killed service had started", async () => {
    const database = await createDatabase({ template: "projected" });
    const port = await findFreePort();
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    const settings = { DATABASE_URL: database.url, PORT: `${port}`, LOG_FORMAT: "json" };
    const service = main([], settings);
    const ended = once(service, "exit");
    let logged = "";
    service.stdout?.on("data", (data) => {
      logged += data;
    });
    try {
      await until(() => logged.includes("port is taken"));
      server.close();
      await until(() => logged.includes("starting processes"));
    } finally {
      service.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
      await database.drop();
    }
  });

  it("requires the settings of the database and the chains for a role that runs alone", async () => {
    const { code, errors } = await outcome(main(["--only", "projector"], {}));

    expect(code).toBe(78);
    expect(errors).toMatch(/DATABASE_URL: .*\n.*RPC_URL_1: .*\n.*FEE_RECIPIENT: /);
  });

  it("exits 2 on a role that does not exist", async () => {
    const { code, errors } = await outcome(main(["--only", "indexer,baker"], {}));

    expect(code).toBe(2);
    expect(errors).toContain("indexer, projector, jobs, api");
  });
});

describe("a child process", () => {
  it("is restarted when it exits, after a longer delay each time", async () => {
    const { logger, logged } = watchedLogger();
    const part = await keepRunning({
      name: "part",
      start: () => startProgram("console.log('alive'); process.exit(3)"),
      logger,
      onConfigurationError: () => {},
      firstDelayMs: 50,
    });

    await until(() => logged.length >= 3);
    await part.stop(1_000);

    const exited = { process: "part", msg: "process exited", reason: "exit 3" };
    expect(logged.slice(0, 3)).toMatchObject([
      { ...exited, restartInMs: 50 },
      { ...exited, restartInMs: 100 },
      { ...exited, restartInMs: 200 },
    ]);
    expect(lines.filter((line) => line === "alive").length).toBeGreaterThanOrEqual(3);
  });

  it("that exits because of its configuration is not restarted", async () => {
    const { logger, logged } = watchedLogger();
    let starts = 0;
    const failed = new Promise<void>((onRefusal) => {
      void keepRunning({
        name: "part",
        start: () => {
          starts += 1;
          return startProgram("process.exit(78)");
        },
        logger,
        onConfigurationError: onRefusal,
      });
    });

    await failed;

    expect({ starts, logged }).toEqual({ starts: 1, logged: [] });
  });

  it("that ignores SIGTERM is killed after the timeout, with all that it started", async () => {
    const life = await startProgram(`
      import { spawn } from "node:child_process";
      process.on("SIGTERM", () => {});
      console.log(spawn("sleep", ["1000"]).pid);
    `);
    await until(() => lines.length > 0);
    const grandchild = Number(lines[0]);
    const askedAt = Date.now();

    await life.stop(500);

    expect(Date.now() - askedAt).toBeLessThan(60_000);
    await until(() => startTimeOf(grandchild) === undefined);
  });

  it("that is killed leaves no process behind that it had started", async () => {
    const life = await startProgram(`
      import { spawn } from "node:child_process";
      console.log(spawn("sleep", ["1000"], { stdio: "ignore" }).pid);
      setInterval(() => {}, 1000);
    `);
    await until(() => lines.length > 0);

    process.kill(life.pid ?? 0, "SIGKILL");

    expect(await life.exited).toEqual({ code: null, reason: "SIGKILL" });
    expect(startTimeOf(Number(lines[0]))).toBeUndefined();
  });
});

describe("the orphan guard", () => {
  it("ends the processes that a killed process had started", async () => {
    const program = join(directory, "supervisor.mts");
    const note = join(directory, "pids");
    await writeFile(
      program,
      `
      import { spawn } from "node:child_process";
      import { writeFileSync } from "node:fs";
      import { startOrphanGuard } from ${JSON.stringify(join(root, "ops/processes/child.ts"))};
      const guard = startOrphanGuard();
      const children = ["SIGINT", "SIGTERM", "SIGTERM"].map((signal) => {
        const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
        guard.add(child.pid, signal);
        return child.pid;
      });
      guard.remove(children[2]);
      writeFileSync(${JSON.stringify(note)}, children.join(" "));
      setInterval(() => {}, 1000);
    `,
    );
    const supervisor = spawn(process.execPath, [program], { cwd: root });
    await vi.waitFor(async () => expect(await readFile(note, "utf8")).toMatch(/\d \d/), 300_000);
    const [first, second, released] = (await readFile(note, "utf8")).split(" ").map(Number);

    supervisor.kill("SIGKILL");

    await until(
      () => startTimeOf(first ?? 0) === undefined && startTimeOf(second ?? 0) === undefined,
    );
    expect(startTimeOf(released ?? 0)).toBeDefined();
    process.kill(released ?? 0, "SIGKILL");
  });
});
