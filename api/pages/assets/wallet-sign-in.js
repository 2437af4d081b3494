/** Has a wallet sign the API's message (ERC-4361), and sends it by the form that the button is in. */
export function offerWallets() {
  for (const place of document.querySelectorAll("[data-wallet]")) {
    place.hidden = false;
    const button = place.querySelector("button");
    button.addEventListener("click", () => sign(place));
  }
}

async function sign(place) {
  tell(place, "Looking for wallets …");
  const client = await import("./client.js");
  const found = await client.findWallets(window);
  if (found.length === 0)
    tell(place, "No wallet in this browser. Install or unlock one, or open this page in its own.");
  else if (found.length === 1) await signWith(place, client, found[0]);
  else {
    tell(place, "Which wallet?");
    place.querySelector(".stack").replaceChildren(
      ...found.map((wallet) => {
        const button = document.createElement("button");
        Object.assign(button, { type: "button", textContent: wallet.name });
        button.addEventListener("click", () => signWith(place, client, wallet));
        return button;
      }),
    );
  }
}

async function signWith(place, client, { name, provider }) {
  const buttons = place.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  try {
    tell(place, `Answer in ${name}.`);
    const address = await client.connectedAccount(provider, true);
    const message = await messageFor(address, await chainFor(place, client, provider));
    const params = [hexOf(message), address];
    const signature = await provider.request({ method: "personal_sign", params });
    place.querySelector("[data-message]").value = message;
    place.querySelector("[data-signature]").value = signature;
    tell(place, "Signed.");
    place.closest("form").requestSubmit();
  } catch (error) {
    const { title, text } = client.explain(error);
    tell(place, `${title}. ${text}`);
  }
  for (const button of buttons) button.disabled = false;
}

/** The one that the wallet is on, where it is served: there a contract's signature is asked for. */
async function chainFor(place, client, provider) {
  const served = place.dataset.wallet.split(" ").map(Number);
  const shown = await client.walletChain(provider);
  return served.includes(shown) ? shown : served[0];
}

async function messageFor(address, chainId) {
  const response = await fetch("/v1/auth/siwe/nonce", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ address, chainId }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? "This site does not answer.");
  return answer.data.message;
}

const hexOf = (text) =>
  `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

const tell = (place, text) => {
  place.querySelector("[role=status]").textContent = text;
};
