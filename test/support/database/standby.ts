import { execFileSync } from "node:child_process";
import { appendFile, chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { clusterPaths } from "../../../api/run/postgres/cluster.ts";
import { type OwnServer, openOwnServer } from "./own-server.ts";

/** What the copy must not take over from the running server. */
const ofTheRun = ["postmaster.pid", "postmaster.opts"];

/** A standby of a running server, from a hot copy of its files. It follows by streaming; promoted, it is a primary. */
export async function openStandby(
  primary: OwnServer,
  settings: Readonly<Record<string, string>> = {},
): Promise<OwnServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "standby-"));
  const { cluster } = clusterPaths(dataDir);
  await hotCopy(primary, dataDir);
  const { hostname, port, username, password } = new URL(primary.url);
  const source = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`;
  // The files' owner, which the server runs as, is the copy's.
  await appendFile(join(cluster, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
  await writeFile(join(cluster, "standby.signal"), "");
  return openOwnServer({ dataDir, replicates: true, settings });
}

async function hotCopy(primary: OwnServer, dataDir: string): Promise<void> {
  const from = clusterPaths(primary.dataDir);
  const to = clusterPaths(dataDir);
  const session = new pg.Client({ connectionString: primary.url });
  await session.connect();
  try {
    await session.query("select pg_backup_start('standby', fast => true)");
    // Files may change and go while they are copied; the write-ahead log since then repairs the copy.
    execFileSync("cp", ["-a", from.cluster, from.password, dataDir]);
    const { rows } = await session.query<{ label: string; map: string }>(
      "select labelfile as label, spcmapfile as map from pg_backup_stop(wait_for_archive => false)",
    );
    for (const name of ofTheRun) await rm(join(to.cluster, name), { force: true });
    await writeFile(join(to.cluster, "backup_label"), rows[0]?.label ?? "");
  } finally {
    await session.end();
  }
  await chmod(to.cluster, 0o700);
  if ((await readdir(to.cluster)).length === 0) throw new Error("the copy is empty");
}

/** Makes a standby a primary; settles when it accepts writes. */
export async function promote(standby: OwnServer): Promise<void> {
  const session = new pg.Client({ connectionString: standby.url });
  await session.connect();
  try {
    await session.query("select pg_promote(wait => true, wait_seconds => 60)");
  } finally {
    await session.end();
  }
}
