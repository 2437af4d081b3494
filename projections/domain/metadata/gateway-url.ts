/** File types before which nothing else ends, so that `?` and `#` after them begin a query and a fragment. */
const fileType =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|svg|mp4|webm|mov|mp3|wav|ogg|glb|gltf|html?|json|pdf|txt|js)$/i;
const endsInType = /\.[a-z][a-z0-9]{1,4}$/i;

/**
 * The URL of content behind a gateway: the only writer of such links. `path` is as people write it (`ipfs/<cid>/Ape
 * #1.png`): escapes stay, other `%`, `#` and `?` of names are escaped. Null if the path leads out of the gateway's own.
 */
export function gatewayUrl(gateway: string, path: string): URL | null {
  const root = `${gateway.replace(/\/(?:ipfs\/?)?$/, "")}/`;
  const { name, query, fragment } = partsOf(path);
  const escaped = name
    .replaceAll(/%(?![0-9a-f]{2})/gi, "%25")
    .replaceAll("?", "%3F")
    .replaceAll("#", "%23");
  if (!URL.canParse(root + escaped + query + fragment)) return null;
  const url = new URL(root + escaped + query + fragment);
  const { origin, pathname } = new URL(root);
  const below = `${pathname}${escaped.split("/")[0]}/`;
  return url.origin === origin && `${url.pathname}/`.startsWith(below) ? url : null;
}

type Parts = { name: string; query: string; fragment: string };

/** What is a name, and what a query or a fragment for the file: both signs also occur in names (`Ape #1.png`, `Why?`). */
function partsOf(path: string): Parts {
  const hash = separatorIn(path, "#", () => false);
  const [before, fragment] = hash === -1 ? [path, ""] : [path.slice(0, hash), path.slice(hash)];
  const mark = separatorIn(before, "?", (after) => /^[\w.~-]+=/.test(after));
  return mark === -1
    ? { name: before, query: "", fragment }
    : { name: before.slice(0, mark), query: before.slice(mark), fragment };
}

/** Where the first such sign separates; -1: it does not. */
function separatorIn(path: string, sign: string, separates: (after: string) => boolean): number {
  const at = path.indexOf(sign);
  if (at === -1) return -1;
  const after = path.slice(at + 1);
  const isAfterFile =
    fileType.test(path.slice(0, at).split("?")[0] ?? "") && !endsInType.test(after);
  return isAfterFile || separates(after) ? at : -1;
}
