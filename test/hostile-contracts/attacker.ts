import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Attack, Spent } from "./attack.ts";

const program = fileURLToPath(new URL("attacker-process.ts", import.meta.url));

/** Attacks from a process of its own: what it does must not delay the requests that are measured here. */
export type Attacker = {
  attack(attack: Attack): Promise<Spent>;
  close(): Promise<void>;
};

export async function openAttacker(): Promise<Attacker> {
  const child = fork(program);
  const ended = once(child, "exit");
  const answer = async () =>
    await Promise.race([
      once(child, "message").then(([message]) => message),
      ended.then(() => Promise.reject(new Error("The attacker's process ended"))),
    ]);
  await answer();
  return {
    async attack(attack) {
      const answered = answer();
      child.send(attack);
      return (await answered) as Spent;
    },
    async close() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
