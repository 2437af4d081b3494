import { type Html, html } from "./html.ts";

type SecretPanel = {
  /** Of the element that holds the secret. */
  readonly id: string;
  readonly title: string;
  readonly secret: string;
  readonly about?: string | false;
  /** What to do with it first, in a shell. */
  readonly example: string;
};

/** Shows a secret this once. */
export function secretPanel({ id, title, secret, about, example }: SecretPanel): Html {
  return html`<div class="secret" role="status" tabindex="-1" autofocus>
<h3>${title}</h3>
<p>This is the only time it is shown: only its hash is kept. Copy it now. ${about}</p>
${copied(id, html`<code id="${id}">${secret}</code>`)}
<p>Try it:</p>
${copied(`${id}-example`, html`<pre tabindex="0"><code id="${id}-example">${example}</code></pre>`)}
</div>`;
}

/** Something to copy; the button shows where scripts run. */
export const copied = (id: string, content: Html): Html =>
  html`<div class="copied">${content}<button type="button" class="plain" data-copy="${id}" hidden>Copy</button></div>`;
