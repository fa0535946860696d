/** The page of the console. It holds nothing of the lab: that comes later, for the token. */
import { registers } from '../filter/presets.js'
import { examples } from './examples.js'
import { Markup, markup } from './markup.js'
import { SCRIPT } from './script.js'
import { CONSOLE_STYLE } from './style.js'

export function consolePage(): string {
  const presets = registers.map(name => markup`<option>${name}</option>`)
  const faults = Object.entries(examples).map(
    ([name, { says, details }]) =>
      markup`<option value="${name}" data-details="${JSON.stringify(details)}">${says} (${name})</option>`,
  )
  const head = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice lab</title>
`
  const body = markup`<main>
<header>
<h1>Sluice lab</h1>
<p class="lead">Your program reaches the cluster through a proxy with two addresses. An IP filter in front of the cluster knows them, or refuses. Everything here runs on this machine.</p>
<p><span id="live" class="state bad" role="status">not connected</span></p>
</header>
<p id="said" role="status"></p>
<div class="columns">
<section class="wide"><h2>Account</h2><div id="addresses"></div><div id="account"></div>
<div class="row"><form data-do="POST /credentials/rotate" data-done="The proxy has a new password"><button class="plain">New proxy password</button></form><form data-do="POST /api-key/rotate" data-done="The cluster has a new API key"><button class="plain">New API key</button></form></div></section>
<section><h2>IP filter policies</h2><div id="policies"></div>
<form data-do="POST /policies" data-done="Created. Attach the policy to make it count" data-clear>
<h3>New policy</h3>
<p><label for="policy-name">Name</label><input id="policy-name" name="name" required autocomplete="off"></p>
<p><label for="policy-rules">Addresses or CIDR blocks, one per line</label><textarea id="policy-rules" name="rules" data-as="lines" rows="3" required spellcheck="false"></textarea></p>
<p class="check"><input id="policy-default" name="includeByDefault" type="checkbox"><label for="policy-default">Attach to new deployments</label></p>
<button>Create policy</button>
</form>
<form data-do="PUT /register" data-done="The policies were replaced">
<h3>Start over</h3>
<p><label for="preset">Who is registered</label><select id="preset" name="which">${presets}</select></p>
<button class="plain">Replace all policies</button>
</form></section>
<div class="stack"><section><h2>Faults</h2><div id="planted"></div>
<form data-do="POST /faults" data-as="fault" data-done="Planted">
<p><label for="fault">Fault</label><select id="fault" name="fault">${faults}</select></p>
<p><label for="details">Details, as JSON</label><textarea id="details" name="details" rows="3" required spellcheck="false"></textarea></p>
<button>Plant fault</button>
</form>
<form data-do="DELETE /faults" data-done="No fault is planted any more"><button class="plain">Take all faults away</button></form></section>
<section><h2>Open connections</h2><div id="connections"></div></section>
<section><h2>Documents</h2><div id="indices"></div></section></div>
<section class="wide"><h2>Refused requests</h2><div id="refusals"></div>
<form data-do="DELETE /refusals"><button class="plain">Forget refusals</button></form></section>
</div>
</main>
`
  const style = new Markup(`<style>${CONSOLE_STYLE}</style>\n</head>\n<body>\n`)
  return [head, style, body, new Markup(`<script>${SCRIPT}</script>\n</body>\n</html>\n`)]
    .map(({ text }) => text)
    .join('')
}
