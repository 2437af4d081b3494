import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
let directory: string;

/** A project of somebody else, without network: what is packed is installed from its file, and viem is linked. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "order-book-caller-"));
  // The build is a script of the package, which an installation without scripts would leave out.
  const pack = ["pack", "--silent", "--ignore-scripts=false", "--pack-destination", directory];
  const { stdout } = await run("npm", pack, { cwd: join(root, "sdk") });
  const file = stdout.trim().split("\n").at(-1) ?? "";
  await writeFile(join(directory, "package.json"), '{ "private": true, "type": "module" }');
  const install = ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  await run("npm", [...install, `./${file}`], { cwd: directory });
  await symlink(join(root, "node_modules/viem"), join(directory, "node_modules/viem"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const program = `
import { MarketError, market, type MarketEvent } from "order-book";
import { type Plan, postedIds, trader, WalletError } from "order-book/viem";
import { createPublicClient, createWalletClient, http, zeroAddress } from "viem";

const api = market({ url: "http://127.0.0.1:9", chainId: 1, retry: { tries: 1 } });
const transport = http("http://127.0.0.1:9");
const wallet = createWalletClient({ account: zeroAddress, transport });
const seller = trader(api, { wallet, reads: createPublicClient({ transport }) });

export async function read(): Promise<string> {
  const { data, meta } = await api.get("/v1/sales", { collection: "a", per_page: 5 });
  // @ts-expect-error: no such path
  api.get("/v1/nothing");
  // @ts-expect-error: the path needs tokenId
  api.get("/v1/collections/{collection}/tokens/{tokenId}", { collection: "a" });
  for await (const row of api.pages("/v1/listings", { collection: "a" }, { limit: 3 }))
    row.askId satisfies string;
  for await (const event of api.feed()) event satisfies MarketEvent;
  return (data[0]?.saleId ?? "") + meta.total;
}

export async function sell(): Promise<Plan> {
  const item = { contract: zeroAddress, tokenId: 1n, unitPriceWei: 1n };
  // @ts-expect-error: a price is no number
  seller.list([{ ...item, unitPriceWei: 1 }]);
  const plan = await seller.list([item], { onStep: ({ kind, state }) => console.log(kind, state) });
  postedIds(plan) satisfies string[];
  return plan;
}

const refused = await read().catch((error: unknown) => error);
console.log(refused instanceof MarketError && refused.code, WalletError.name, typeof seller.buy);
`;

describe("the packed client", () => {
  it("compiles in a strict project and runs in Node", async () => {
    await writeFile(join(directory, "use.ts"), program);
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ module: "nodenext", target: "es2022", lib: ["es2022", "dom", "dom.iterable"] },
      ...{ types: [], skipLibCheck: true },
    };
    await writeFile(
      join(directory, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["use.ts"] }),
    );
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const compiled = await run(process.execPath, [tsc, "-p", "."], { cwd: directory }).catch(
      (error: { stdout: string }) => error,
    );
    expect(compiled.stdout).toBe("");
    const { stdout } = await run(process.execPath, ["use.js"], { cwd: directory });
    expect(stdout).toBe("network WalletError function\n");
  });

  it("has nothing in it but what callers need, and no dependency", async () => {
    const lock = await readFile(join(directory, "package-lock.json"), "utf8");
    expect(Object.keys(JSON.parse(lock).packages)).toEqual(["", "node_modules/order-book"]);
    const { stdout: files } = await run("find", ["node_modules/order-book", "-type", "f"], {
      cwd: directory,
    });
    const names = files.trim().split("\n");
    expect(names.filter((name) => /\.test\.|\/src\/|\/document\/released/.test(name))).toEqual([]);
    expect(names).toContain("node_modules/order-book/README.md");
    expect(names).toContain("node_modules/order-book/CHANGELOG.md");
  });
});
