import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, it } from "vitest";
import { lowerPriority } from "./child.ts";

it("a process and its session yield to others", async () => {
  const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  const own = getPriority(pid);
  try {
    lowerPriority(pid);
    expect(getPriority(pid)).toBe(Math.max(own, 5));
    const group = `/proc/${pid}/autogroup`;
    if (existsSync(group)) expect(readFileSync(group, "utf8")).toMatch(/nice 5$/m);
  } finally {
    child.kill();
  }
});

it("a process that has ended is none of its concerns", async () => {
  const child = spawn("true", { stdio: "ignore" });
  await once(child, "exit");
  expect(() => lowerPriority(child.pid ?? 0)).not.toThrow();
});
