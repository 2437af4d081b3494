import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findFreePort } from "#ops/free-port.ts";
import { askServer } from "#ops/postgres/answering-server.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { until } from "./pipeline.ts";

/** A real PgBouncer in front of a server. */
export type PgBouncer = {
  /** The address of one of the server's databases, through it. */
  through(url: string): string;
  close(): Promise<void>;
};

type Options = {
  readonly mode: "session" | "transaction";
  /** Connections to the server at most. */
  readonly connections?: number;
};

/** PgBouncer does not run as root. */
const nobody = { uid: 65_534, gid: 65_534 };

export async function openPgBouncer(
  serverUrl: string,
  { mode, connections = 10 }: Options,
): Promise<PgBouncer> {
  const { hostname, port, username, password } = new URL(serverUrl);
  if (located === null) throw new Error("PgBouncer cannot be had here");
  const { program, libraries } = located;
  const directory = await mkdtemp(join(tmpdir(), "pgbouncer-"));
  const own = await findFreePort();
  const file = join(directory, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`,
    "[pgbouncer]",
    ...["listen_addr = 127.0.0.1", `listen_port = ${own}`, "unix_socket_dir =", "auth_type = any"],
    ...[`pool_mode = ${mode}`, `default_pool_size = ${connections}`, "max_client_conn = 500"],
    "",
  ];
  await writeFile(file, lines.join("\n"), { mode: 0o644 });
  execFileSync("chmod", ["755", directory]);
  const child = spawn(program, ["-q", file], {
    stdio: "ignore",
    env: { LD_LIBRARY_PATH: libraries },
    ...(process.getuid?.() === 0 && nobody),
  });
  const exited = once(child, "exit");
  const orphanGuard = startOrphanGuard();
  if (child.pid !== undefined) orphanGuard.add(child.pid, "SIGINT");
  const through = (url: string) => {
    const address = new URL(url);
    address.hostname = "127.0.0.1";
    address.port = `${own}`;
    return address.href;
  };
  await until("PgBouncer answers", () =>
    askServer(through(serverUrl)).then(
      () => true,
      () => false,
    ),
  );
  return {
    through,
    async close() {
      child.kill("SIGTERM");
      await exited;
      if (child.pid !== undefined) orphanGuard.remove(child.pid);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Where the packages are unpacked that are not installed. */
const unpacked = resolve("node_modules/.cache/pgbouncer");
const packages = ["pgbouncer", "libc-ares2", "libevent-2.1-7"];
const libraryFolder = `usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`;

type Program = { readonly program: string; readonly libraries: string };

const installed: Program = { program: "/usr/sbin/pgbouncer", libraries: "" };
const ofPackages: Program = {
  program: join(unpacked, "usr/sbin/pgbouncer"),
  libraries: join(unpacked, libraryFolder),
};

/** Debian's program, installed or from its packages, unpacked without an installation. Null: neither can be had here. */
const located = await locateProgram();
export const hasPgBouncer = located !== null;

async function locateProgram(): Promise<Program | null> {
  for (const one of [installed, ofPackages]) if (works(one)) return one;
  try {
    await mkdir(unpacked, { recursive: true });
    downloadPackages();
    for (const name of await readdir(unpacked)) {
      if (name.endsWith(".deb")) execFileSync("dpkg-deb", ["-x", name, "."], { cwd: unpacked });
    }
  } catch {
    // No Debian, or its packages cannot be reached.
  }
  return works(ofPackages) ? ofPackages : null;
}

function downloadPackages(): void {
  const apt = (...args: readonly string[]) =>
    execFileSync("apt-get", args, { cwd: unpacked, stdio: "pipe", timeout: 120_000 });
  try {
    apt("download", ...packages);
  } catch {
    // A new machine knows no packages yet; lists of our own need no root.
    mkdirSync(join(unpacked, "lists/partial"), { recursive: true });
    const lists = ["-o", `Dir::State::Lists=${join(unpacked, "lists")}`];
    apt(...lists, "update");
    apt(...lists, "download", ...packages);
  }
}

function works({ program, libraries }: Program): boolean {
  try {
    execFileSync(program, ["--version"], { env: { LD_LIBRARY_PATH: libraries }, stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}
