/** Compiles every contract of the local chains into `artifacts/`, or with `--check` compares. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Abi } from "viem";
import { type Artifact, artifactUrl, exchangeSources, ownSources, placed } from "./artifacts.ts";

type CompilerOutput = {
  errors?: { severity: "error" | "warning" | "info"; formattedMessage: string }[];
  contracts?: Record<
    string,
    Record<
      string,
      { abi: Abi; evm: { bytecode: { object: string }; deployedBytecode: { object: string } } }
    >
  >;
};

type Compiler = {
  compile(input: string, callbacks: { import(path: string): { contents: string } }): string;
};

type Unit = {
  /** Names of the contracts wanted, by source path. */
  sources: Record<string, readonly string[]>;
  settings: { viaIR: boolean; optimizer: { enabled: true; runs: number } };
  keepAbi: boolean;
};

const require = createRequire(import.meta.url);

const ownPrefix = "devnet/contracts/";
const own: Unit = {
  sources: Object.fromEntries(
    Object.entries(ownSources).map(([file, names]) => [`${ownPrefix}${file}.sol`, names]),
  ),
  settings: { viaIR: false, optimizer: { enabled: true, runs: 200 } },
  keepAbi: true,
};

/** With exactly these settings Seaport's code leads to its canonical address by CREATE2. */
const exchange: Unit = {
  sources: exchangeSources,
  settings: { viaIR: true, optimizer: { enabled: true, runs: 4_294_967_295 } },
  keepAbi: false,
};

function readSource(path: string): string {
  return path.startsWith(ownPrefix)
    ? readFileSync(new URL(path.slice(ownPrefix.length), import.meta.url), "utf8")
    : readFileSync(require.resolve(path), "utf8");
}

function compile(unit: Unit): Artifact[] {
  const sources = Object.keys(unit.sources).map((path) => [path, { content: readSource(path) }]);
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(sources),
    settings: {
      ...unit.settings,
      evmVersion: "cancun",
      metadata: { bytecodeHash: "none" },
      outputSelection: {
        "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] },
      },
    },
  };
  const solc = require("solc") as Compiler;
  const callbacks = { import: (path: string) => ({ contents: readSource(path) }) };
  const output = JSON.parse(solc.compile(JSON.stringify(input), callbacks)) as CompilerOutput;
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new Error(errors.map((e) => e.formattedMessage).join("\n"));
  return Object.entries(unit.sources).flatMap(([path, names]) =>
    names.map((name) => toArtifact(output, path, name, unit.keepAbi)),
  );
}

function toArtifact(
  output: CompilerOutput,
  path: string,
  contractName: string,
  keepAbi: boolean,
): Artifact {
  const contract = output.contracts?.[path]?.[contractName];
  if (contract === undefined) throw new Error(`${path} holds no contract ${contractName}`);
  const { abi, evm } = contract;
  return {
    contractName,
    ...(keepAbi ? { abi } : {}),
    bytecode: `0x${evm.bytecode.object}`,
    ...(isPlaced(contractName)
      ? { deployedBytecode: `0x${evm.deployedBytecode.object}` as const }
      : {}),
  };
}

const isPlaced = (name: string) => placed.some((other) => other === name);

function isCommitted(artifact: Artifact): boolean {
  const file = artifactUrl(artifact.contractName);
  return existsSync(file) && readFileSync(file, "utf8") === render(artifact);
}

const render = (artifact: Artifact) => `${JSON.stringify(artifact, null, 1)}\n`;

function main(check: boolean): void {
  const differing = [own, exchange].flatMap(compile).filter((artifact) => !isCommitted(artifact));
  const names = differing.map(({ contractName }) => contractName).join(", ");
  if (differing.length === 0) {
    process.stdout.write("The artifacts are what the sources compile to.\n");
  } else if (check) {
    process.stdout.write(`Differs from its source: ${names}. Run \`npm run contracts\`.\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(new URL("./artifacts/", import.meta.url), { recursive: true });
    for (const artifact of differing)
      writeFileSync(artifactUrl(artifact.contractName), render(artifact));
    process.stdout.write(`Written: ${names}.\n`);
  }
}

main(process.argv.includes("--check"));
