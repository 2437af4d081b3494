import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/**
 * Prints a software bill of materials (CycloneDX 1.5, JSON) of the lock file: what `npm ci` installs, with the hash of
 * each package. `npm sbom` refuses where an override leaves the range that a package asks for, as ours do.
 */

const root = join(import.meta.dirname, "../..");

const Locked = z.object({
  name: z.string().optional(),
  version: z.string().default(""),
  integrity: z.string().optional(),
  license: z.string().optional(),
  dev: z.boolean().optional(),
  optional: z.boolean().optional(),
  link: z.boolean().optional(),
});
const Lock = z.object({ packages: z.record(z.string(), Locked) });

const { packages } = Lock.parse(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
const { "": own, ...installed } = packages;

/** Packages that are installed in several places are one component. */
const components = new Map<string, ReturnType<typeof componentOf>>();
for (const [path, locked] of Object.entries(installed)) {
  // A folder of our own that only names packages, and the link to it.
  if (locked.link || !path.includes("node_modules/")) continue;
  const name = locked.name ?? path.slice(path.lastIndexOf("node_modules/") + 13);
  const component = componentOf(name, locked);
  const known = components.get(component.purl);
  if (known?.scope !== "required") components.set(component.purl, component);
}
const document = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: { component: { type: "application", name: own?.name ?? "", version: own?.version } },
  components: [...components.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1)),
};
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);

/** `scope` excluded: only development needs it. */
function componentOf(
  name: string,
  { version, integrity, license, dev, optional }: z.output<typeof Locked>,
) {
  const [algorithm, digest] = (integrity ?? "").split("-", 2);
  // What no hash pins may change between two installations.
  if (algorithm !== "sha512" || digest === undefined)
    throw new Error(`${name}@${version} has no SHA-512 in the lock file`);
  const needed = optional ? "optional" : "required";
  const content = Buffer.from(digest, "base64").toString("hex");
  return {
    type: "library",
    name,
    version,
    scope: dev ? "excluded" : needed,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    hashes: [{ alg: "SHA-512", content }],
    ...(license !== undefined && { licenses: [{ expression: license }] }),
  };
}
