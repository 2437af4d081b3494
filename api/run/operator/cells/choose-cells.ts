import { mainCell } from "../../../../projections/log/cells/main-cell.ts";
import { readConfig, readEnvironment } from "../../config/read-config.ts";
import { accountsCell, isSameDatabase } from "../../roles/configured-cells.ts";
import { mergeInstallation } from "../../supervisor/installation.ts";

/** What must be alike in all databases, or tells of each. */
const everywhere = ["migrate", "pause", "resume", "makers", "roles", "doctor"];
/** What is about the chains of each. */
const ofEachChain = ["status", "analytics", "export"];

type Chosen = { readonly cells: readonly string[]; readonly args: readonly string[] };

/** The databases that a command works on, one after the other, and its arguments without `--cell`. */
export function chooseCells(argv: readonly string[]): Chosen {
  const [first = "", second] = argv;
  const given = first === "--cell" ? second : /^--cell=(.*)$/.exec(first)?.[1];
  const args = given === undefined ? argv : argv.slice(first === "--cell" ? 2 : 1);
  if (given !== undefined && given !== "all") return { cells: [given], args };
  if (args.some((one) => one === "--help" || one === "-h")) return { cells: [mainCell], args };
  const command = args[0] ?? "";
  if (ofEachChain.includes(command))
    return { cells: allCells().filter((cell) => cell !== accountsCell), args };
  const isForAll = given === "all" || everywhere.includes(command);
  // Of a faulty configuration the command itself tells.
  return { cells: isForAll ? allCells() : [mainCell], args };
}

function allCells(): string[] {
  const { url, ofChains, accountsUrl } = readConfig(mergeInstallation(readEnvironment())).database;
  const chains = ofChains.filter((one) => url === null || !isSameDatabase(one.url, url));
  const isApart = (known: string | null) =>
    accountsUrl !== null && (known === null || !isSameDatabase(accountsUrl, known));
  const hasAccounts = isApart(url) && chains.every((one) => isApart(one.url));
  return [
    mainCell,
    ...chains.map(({ chainId }) => `${chainId}`),
    ...(hasAccounts ? [accountsCell] : []),
  ];
}
