import { spawn } from "node:child_process";
import type { Writable } from "node:stream";

/** Ends child processes when this process exits, however it exits. */
export type OrphanGuard = {
  /** When this process exits, `pid` gets the signal, and its group is killed 8 s later. */
  add(pid: number, signal: "SIGINT" | "SIGTERM"): void;
  remove(pid: number): void;
  /** Kills every process added, without an orderly stop. */
  killAll(): void;
};

/** Reads `add <pid> <signal>`, `remove <pid>` and `kill`. Its input closes when the parent process exits. */
const script = `
guarded=
kill_all() {
  for one in $guarded; do
    # SIGQUIT makes PostgreSQL exit at once; it recovers at its next start.
    if [ "\${one#*:}" = INT ]; then kill -s QUIT "\${one%:*}"; else kill -s KILL -- "-\${one%:*}"; fi
  done
}
while read -r verb pid name; do
  [ "$verb" = kill ] && kill_all && exit 0
  others=
  for one in $guarded; do [ "\${one%:*}" = "$pid" ] || others="$others $one"; done
  guarded=$others
  [ "$verb" = add ] && guarded="$guarded $pid:$name"
done
[ -n "$guarded" ] || exit 0
for one in $guarded; do kill -s "\${one#*:}" "\${one%:*}"; done
tries=0
while [ $tries -lt 80 ]; do
  alive=
  for one in $guarded; do kill -0 "\${one%:*}" && alive=yes; done
  [ -z "$alive" ] && break
  sleep 0.1
  tries=$((tries + 1))
done
kill_all
`;

/** Starts the guard: a shell in its own session, which neither Ctrl-C nor the exit of this process ends. */
export function startOrphanGuard(): OrphanGuard {
  const shell = spawn("/bin/sh", ["-c", script, "orphan-guard"], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
  });
  const input = shell.stdin as Writable & { unref(): void };
  input.on("error", () => {});
  shell.on("error", () => {});
  shell.unref();
  input.unref();
  return {
    add: (pid, signal) => void input.write(`add ${pid} ${signal.slice(3)}\n`),
    remove: (pid) => void input.write(`remove ${pid}\n`),
    killAll: () => void input.write("kill\n"),
  };
}
