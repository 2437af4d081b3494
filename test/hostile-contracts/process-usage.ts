import { readFile } from "node:fs/promises";

/** What a process uses: megabytes in memory, and CPU seconds with those of its children that have ended. */
type Usage = { readonly megabytes: number; readonly cpuSeconds: number };

/** Clock ticks of a second in `/proc/PID/stat`. */
const ticks = 100;

/** Usage of a process and those it started, by id and program; on Linux. Ended ones are left out. */
export async function readUsage(pid: number): Promise<Map<string, Usage>> {
  const found = new Map<string, Usage>();
  const text = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
  const [status, stat, command, children] = await Promise.all([
    text("status"),
    text("stat"),
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
  if (kilobytes !== undefined) {
    // The program's name, which may have spaces, ends with a parenthesis; utime to cstime are fields 14 to 17.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const used = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    found.set(`${pid} ${program}`, {
      megabytes: Math.round(Number(kilobytes) / 1024),
      cpuSeconds: used / ticks,
    });
  }
  for (const child of children.split(" ").filter(Boolean)) {
    for (const entry of await readUsage(Number(child))) found.set(...entry);
  }
  return found;
}
