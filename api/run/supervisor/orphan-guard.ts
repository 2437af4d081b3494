import { spawn } from "node:child_process";
import type { Writable } from "node:stream";

/** Sees to it that no process outlives this one, however this one ends. */
export type OrphanGuard = {
  /** Should this process die, `pid` gets the signal, and 8 s later its group is killed. */
  add(pid: number, signal: "SIGINT" | "SIGTERM"): void;
  remove(pid: number): void;
  /** Ends everything held, without waiting for order. */
  killAll(): void;
};

/** Reads `hold <pid> <signal>`, `release <pid>` and `kill`; the end of its input is the death of the holder. */
const script = `
held=
kill_all() {
  for one in $held; do
    # PostgreSQL is told to drop everything: it recovers at its next start.
    if [ "\${one#*:}" = INT ]; then kill -s QUIT "\${one%:*}"; else kill -s KILL -- "-\${one%:*}"; fi
  done
}
while read -r verb pid name; do
  [ "$verb" = kill ] && kill_all && exit 0
  rest=
  for one in $held; do [ "\${one%:*}" = "$pid" ] || rest="$rest $one"; done
  held=$rest
  [ "$verb" = hold ] && held="$held $pid:$name"
done
[ -n "$held" ] || exit 0
for one in $held; do kill -s "\${one#*:}" "\${one%:*}"; done
tries=0
while [ $tries -lt 80 ]; do
  alive=
  for one in $held; do kill -0 "\${one%:*}" && alive=yes; done
  [ -z "$alive" ] && break
  sleep 0.1
  tries=$((tries + 1))
done
kill_all
`;

/** A shell in a session of its own, so that neither Ctrl-C nor this process's death reaches it. */
export function startOrphanGuard(): OrphanGuard {
  const shell = spawn("/bin/sh", ["-c", script, "leash"], {
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
    add: (pid, signal) => void input.write(`hold ${pid} ${signal.slice(3)}\n`),
    remove: (pid) => void input.write(`release ${pid}\n`),
    killAll: () => void input.write("kill\n"),
  };
}
