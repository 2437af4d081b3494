import { type Html, html } from "#api/serve/html/html.ts";

type SecretPanel = {
  /** Id of the element with the secret. */
  readonly id: string;
  readonly title: string;
  readonly secret: string;
  readonly about?: string | false;
  /** A first command to try it. */
  readonly example: string;
};

/** Shows a new secret, once. */
export function secretPanel({ id, title, secret, about, example }: SecretPanel): Html {
  return html`<div class="secret" role="status" tabindex="-1" autofocus>
<h3>${title}</h3>
<p>Copy it now: it is shown only once, and only its hash is stored. ${about}</p>
${copied(id, html`<code id="${id}">${secret}</code>`)}
<p>Try it:</p>
${copied(`${id}-example`, html`<pre tabindex="0"><code id="${id}-example">${example}</code></pre>`)}
</div>`;
}

/** Text with a copy button, which appears when scripts are enabled. */
export const copied = (id: string, content: Html): Html =>
  html`<div class="copied">${content}<button type="button" class="plain" data-copy="${id}" hidden>Copy</button></div>`;
