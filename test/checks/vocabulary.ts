import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A retired word as a pattern on identifiers and prose, what to say instead, and paths where it may stay. */
type RetiredWord = { readonly pattern: RegExp; readonly instead: string; readonly except: RegExp };

const root = join(import.meta.dirname, "../..");
const listFile = "test/checks/retired-words.txt";
const neverChecked =
  /^(package-lock\.json|test\/checks\/|devnet\/contracts\/artifacts\/|projections\/log\/migrations\/)/;

/** Lines of the list: pattern, replacement and an optional pattern of excepted paths, separated by ` | `. */
function parseList(text: string): RetiredWord[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [pattern = "", instead = "", except = "^$"] = line.split(" | ");
      return { pattern: new RegExp(pattern), instead, except: new RegExp(except) };
    });
}

/** Uses of retired words in tracked text files and their names, as `path:line: word → replacement`. */
function findRetiredWords(paths: readonly string[], words: readonly RetiredWord[]): string[] {
  return paths.flatMap((path) => {
    const lines = [path, ...readFileSync(join(root, path), "utf8").split("\n")];
    return words
      .filter(({ except }) => !except.test(path))
      .flatMap(({ pattern, instead }) =>
        lines.flatMap((line, index) => {
          const word = pattern.exec(line)?.[0];
          return word === undefined ? [] : [`${path}:${index}: ${word} → ${instead}`];
        }),
      );
  });
}

const paths = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root })
  .toString()
  .split("\n")
  .filter((path) => /\.(ts|md|cjs|json)$/.test(path) && !neverChecked.test(path));
const found = findRetiredWords(paths, parseList(readFileSync(join(root, listFile), "utf8")));

for (const line of found) process.stdout.write(`${line}\n`);
process.stdout.write(`${found.length} uses of retired words in ${paths.length} files\n`);
process.exitCode = found.length === 0 ? 0 : 1;
