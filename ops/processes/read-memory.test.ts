import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { expect, it } from "vitest";
import { readMemory } from "./start-roles.ts";

it("counts a process with those that it started", async () => {
  const script = "setInterval(() => {}, 1000); console.log('started')";
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  const memory = readMemory([process.pid, pid]);
  const [own, ofChild] = [memory.get(process.pid) ?? 0, memory.get(pid) ?? 0];
  child.kill("SIGKILL");
  await once(child, "exit");

  expect(ofChild).toBeGreaterThan(10e6);
  expect(own).toBeGreaterThan(ofChild + 10e6);
  expect(readMemory([pid]).get(pid)).toBe(0);
});
