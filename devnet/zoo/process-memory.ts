import { readFile } from "node:fs/promises";

/** Megabytes in memory of a process and those it started, by id and program; on Linux. Ended ones are left out. */
export async function readMemory(pid: number): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const text = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
  const [status, command, children] = await Promise.all([
    text("status"),
    text("cmdline"),
    text(`task/${pid}/children`),
  ]);
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status)?.[1];
  const program = command
    .split("\0")
    .filter(Boolean)
    .slice(0, 8)
    .join(" ")
    .slice(-100)
    .replaceAll(/\s+/g, " ");
  if (kilobytes !== undefined) found.set(`${pid} ${program}`, Math.round(Number(kilobytes) / 1024));
  for (const child of children.split(" ").filter(Boolean)) {
    for (const entry of await readMemory(Number(child))) found.set(...entry);
  }
  return found;
}
