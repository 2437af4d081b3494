import { spawnSync } from "node:child_process";
import { appendFile, chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { clusterPaths } from "#ops/postgres/cluster.ts";
import { type OwnServer, openOwnServer } from "./own-server.ts";

/** What the copy must not take over from the running server. */
const ofTheRun = ["postmaster.pid", "postmaster.opts"];

/** A standby of a running server, from a hot copy of its files. It follows by streaming; promoted, it is a primary. */
export async function openStandby(primary: OwnServer): Promise<OwnServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "standby-"));
  const { cluster } = clusterPaths(dataDir);
  await hotCopy(primary, dataDir);
  const { hostname, port, username, password } = new URL(primary.url);
  const source = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`;
  await appendFile(join(cluster, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
  await writeFile(join(cluster, "standby.signal"), "");
  await giveToServer(cluster, ["backup_label", "standby.signal"]);
  return openOwnServer({ dataDir, replicates: true });
}

async function hotCopy(primary: OwnServer, dataDir: string): Promise<void> {
  const from = clusterPaths(primary.dataDir);
  const to = clusterPaths(dataDir);
  const session = new pg.Client({ connectionString: primary.url });
  await session.connect();
  try {
    await session.query("select pg_backup_start('standby', fast => true)");
    copyRunning([from.cluster, from.password], dataDir);
    const { rows } = await session.query<{ label: string; map: string }>(
      "select labelfile as label, spcmapfile as map from pg_backup_stop(wait_for_archive => false)",
    );
    for (const name of ofTheRun) await rm(join(to.cluster, name), { force: true });
    await writeFile(join(to.cluster, "backup_label"), rows[0]?.label ?? "");
  } finally {
    await session.end();
  }
}

/** Files may change and go while they are copied: the write-ahead log since then repairs the copy. */
function copyRunning(from: readonly string[], to: string): void {
  const environment = { ...process.env, LC_ALL: "C" };
  const { status, stderr } = spawnSync("cp", ["-a", ...from, to], {
    encoding: "utf8",
    env: environment,
  });
  const isGone = (line: string) => line.endsWith("No such file or directory");
  if (status !== 0 && !stderr.trim().split("\n").every(isGone)) throw new Error(stderr);
}

/** The server does not run as root; files of the copy belong to its user already. */
async function giveToServer(cluster: string, names: readonly string[]): Promise<void> {
  const { uid, gid } = await stat(cluster);
  for (const name of names) await chown(join(cluster, name), uid, gid);
}
