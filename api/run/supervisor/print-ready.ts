import type { LocalChains } from "./local-chains.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

/** The line that scripts wait for, and for people a table of addresses to look at. */
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
    ["developer section", `${baseUrl}/developers`],
    ...config.chains.map(({ chainId }): [string, string] => [
      `sales on chain ${chainId}`,
      `${baseUrl}/v1/sales?chainId=${chainId}`,
    ]),
    ["progress", `${baseUrl}/v1/status`],
    ["readiness", `${baseUrl}/readyz`],
    ["metrics", `${baseUrl}/metrics`],
    ...Object.entries(local?.chains ?? {}).map(([chainId, { rpcUrl }]): [string, string] => [
      `local chain ${chainId}`,
      rpcUrl,
    ]),
  ];
  const lines = rows.map(([what, url]) => `  ${what.padEnd(22)}${url}\n`);
  process.stdout.write(`ready ${baseUrl}\n${lines.join("")}`);
}
