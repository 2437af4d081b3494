import type { LocalChains } from "./local-chains.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

/** Prints the line that scripts wait for, and a table of addresses for people. */
export function printReady(
  { config, roles }: SupervisorContext,
  local: LocalChains | undefined,
): void {
  if (!roles.includes("api")) {
    process.stdout.write(`ready ${roles.join(", ")}\n`);
    return;
  }
  const { baseUrl } = config.http;
  const rows: [string, string][] = [
    ["API reference", `${baseUrl}/docs`],
    ["API keys", `${baseUrl}/developers`],
    ...config.chains.map(({ chainId }): [string, string] => [
      `sales on chain ${chainId}`,
      `${baseUrl}/v1/sales?chainId=${chainId}`,
    ]),
    ["status", `${baseUrl}/v1/status`],
    ["readiness", `${baseUrl}/readyz`],
    ["metrics", `${baseUrl}/metrics`],
    ...Object.entries(local?.chains ?? {}).map(([chainId, { rpcUrl }]): [string, string] => [
      `local chain ${chainId}`,
      rpcUrl,
    ]),
  ];
  const lines = rows.map(([label, url]) => `  ${label.padEnd(22)}${url}\n`);
  process.stdout.write(`ready ${baseUrl}\n${lines.join("")}`);
}
