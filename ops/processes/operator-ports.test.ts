import { expect, it } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { withOperatorPorts } from "./start-service.ts";

const portsOf = async (variables: Record<string, string>) => {
  const { http } = await withOperatorPorts(readConfig(variables), ["api", "console"]);
  return http.metricsPort;
};

it("gives metrics a port of their own wherever others reach the API", async () => {
  expect(await portsOf({})).toBeNull();
  expect(await portsOf({ HOST: "127.0.0.5" })).toBeNull();
  expect(await portsOf({ HOST: "0.0.0.0" })).toBeGreaterThan(0);
  expect(await portsOf({ HOST: "0.0.0.0", METRICS_PORT: "4123" })).toBe(4123);
});
