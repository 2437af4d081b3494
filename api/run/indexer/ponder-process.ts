import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { readEnvironment } from "../config/config.ts";
import { ponderDirectory, projectRoot } from "./schema-name.ts";

export type PonderProcess = {
  pid: number | undefined;
  /** Settles with what it ended of, once it is gone. */
  exited: Promise<string>;
  /** Ends it in order, and insists after a while. */
  stop(): Promise<void>;
  kill(): void;
};

/** Of our own environment Ponder gets what the machine needs. `PORT` and others would mean something else to it. */
const inheritedVariables = [
  "PATH",
  "HOME",
  "TZ",
  "NODE_OPTIONS",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
];
const stopTimeoutMs = 4_000;

/**
 * The shell becomes Ponder; another shell waits on a pipe that only this process holds and kills Ponder when the pipe
 * breaks: it must not go on without the lease.
 */
const killOnDisconnect = '(read -r _ <&3 || kill -KILL "$$") >/dev/null 2>&1 & exec "$@" 3<&-';

/** Starts Ponder on a schema. It serves its own HTTP on a free port of the loopback address; nobody asks it. */
export function startPonder(
  schema: string,
  settings: Record<string, string>,
  onLine: (line: string) => void,
): PonderProcess {
  const command = [
    // It calls the driver in a way that the driver's next major version will refuse; told once a start.
    ...[process.execPath, "--no-deprecation", join(ponderDirectory, "dist/esm/bin/ponder.js")],
    ...[
      "start",
      "--root",
      projectRoot,
      "--schema",
      schema,
      "--log-format",
      "json",
      "--log-level",
      "info",
    ],
    ...["--hostname", "127.0.0.1", "--port", "0"],
  ];
  const child = spawn("/bin/sh", ["-c", killOnDisconnect, "sh", ...command], {
    cwd: projectRoot,
    env: { ...environment(), ...settings },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on("line", onLine);
  }
  const exited = exitOf(child);
  return {
    pid: child.pid,
    exited,
    kill: () => void child.kill("SIGKILL"),
    async stop() {
      const killTimer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      // Of SIGTERM its bundler dies before Ponder has unlocked the schema.
      child.kill("SIGINT");
      await exited;
      clearTimeout(killTimer);
    },
  };
}

function environment(): Record<string, string | undefined> {
  const own = readEnvironment();
  return {
    ...Object.fromEntries(inheritedVariables.map((name) => [name, own[name]])),
    PONDER_TELEMETRY_DISABLED: "1",
    // The schema's name says that it is the right one; Ponder's own test depends on the order of a directory's files.
    PONDER_EXPERIMENTAL_DB: "platform",
  };
}

function exitOf(child: ChildProcess): Promise<string> {
  const pipe = child.stdio[3] as Writable;
  pipe.on("error", () => {});
  return new Promise((settle) => {
    child.once("error", (error) => settle(error.message));
    child.once("exit", (code, signal) => {
      pipe.end("gone\n");
      settle(signal ?? `exit ${code}`);
    });
  });
}
