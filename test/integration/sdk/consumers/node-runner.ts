import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { TestChain } from "#test/support/orders/test-chains.ts";
import type { PackedClient } from "./packed-client.ts";
import type { RecipeRunner } from "./recipe-runner.ts";

/** Recipes as programs of Node, each started in a directory of its own. */
export function openNodeRunner(client: PackedClient, testChain: TestChain): RecipeRunner {
  const { baseUrl, rpcUrl } = testChain;
  return {
    async start(recipe, people, settings = {}) {
      const cwd = await mkdtemp(join(client.directory, "run-"));
      const child = spawn(process.execPath, [join(client.directory, "node", `${recipe}.js`)], {
        cwd,
        env: {
          ...{ MARKET_URL: baseUrl, RPC_URL: rpcUrl, COLLECTION: contracts.punks },
          ...{
            PRIVATE_KEY: people.map((person) => accounts[person].privateKey).join(),
            ...settings,
          },
        },
        stdio: ["ignore", "pipe", "inherit"],
      });
      let printed = "";
      child.stdout.on("data", (part) => {
        printed += part;
      });
      const closed = once(child, "close");
      const ended = closed.then(([code]: (number | null)[]) => {
        if (code !== 0) throw new Error(`${recipe} ended with ${code}: ${printed}`);
      });
      ended.catch(() => undefined);
      const stop = async () => {
        child.kill("SIGKILL");
        await closed;
      };
      return { output: () => printed, ended, stop };
    },
    close: async () => undefined,
  };
}
