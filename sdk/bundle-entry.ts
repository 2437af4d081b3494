import { type BuildOptions, build } from "esbuild";

/** An entry of the client as a browser loads it: one minified module. */
export async function bundleEntry(entry: string, options: BuildOptions = {}): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    logLevel: "error",
    format: "esm",
    target: "es2022",
    platform: "browser",
    ...options,
  });
  const [output] = outputFiles ?? [];
  if (output === undefined) throw new Error(`${entry} gives no bundle`);
  return output.contents;
}
