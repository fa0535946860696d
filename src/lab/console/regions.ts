/** What the console shows of a lab, as HTML by the id of its place in the page. */
import type { Control, LabConnection } from '../control/control.js'
import { type Faults, faultNames } from '../faults.js'
import type { Policy } from '../filter/policies.js'
import { type Markup, markup, tableOf } from './markup.js'

/** Newest rows of a table that grows. */
const SHOWN = 50

export function regionsOf(control: Control): Readonly<Record<string, Markup>> {
  return {
    account: account(control),
    addresses: addresses(control),
    policies: policies(control),
    connections: connections(control),
    refusals: refusals(control),
    indices: indices(control),
    planted: planted(control),
  }
}

function account(control: Control): Markup {
  const { proxy, cluster, servicenow } = control.line()
  const values = [
    ['HTTP proxy', proxy.http],
    ['HTTPS proxy', proxy.https],
    ['SOCKS5 proxy', proxy.socks5],
    ['SOCKS5 proxy over TLS', proxy.socks5s],
    ['Cluster', cluster.url],
    ['Cluster, plain', cluster.httpUrl],
    ['API key', cluster.apiKey],
    ['CA file', cluster.caFile],
    ['ServiceNow', servicenow.url],
  ] as const
  return markup`<dl class="values">${values.map(
    ([name, value]) =>
      markup`<div><dt>${name}</dt><dd><code>${value}</code></dd><button type="button" class="plain" data-copy="${value}" aria-label="Copy: ${name}">Copy</button></div>`,
  )}</dl>`
}

/** The route: which addresses the proxy leaves from, and what the filter says to each. */
function addresses(control: Control): Markup {
  const seen = control.connections()
  const down = control.faults().nodeDown?.node
  const rows = control.line().staticIps.map((address, at) => {
    const of = leaving(seen, address)
    const isDown = down === (at === 0 ? 'first' : 'second')
    return [
      markup`<code class="address">${address}</code>`,
      state(!isDown, isDown ? 'down' : 'up'),
      state(control.allows(address), control.allows(address) ? 'allowed' : 'refused'),
      of.filter(({ open }) => open).length,
      of.length,
    ]
  })
  const heads = ['Address', 'Node', 'IP filter', 'Open now', 'So far']
  return tableOf('Egress addresses', heads, rows, '')
}

function policies(control: Control): Markup {
  const all = control.policies()
  const isAttached = all.some(({ deployments }) => deployments.includes('main'))
  const rule = isAttached
    ? 'An address passes if one of the attached policies allows it.'
    : 'No policy is attached to main, so every address passes.'
  return markup`<p class="${isAttached ? 'note' : 'note warn'}">${rule}</p><ul class="cards">${all.map(policy)}</ul>`
}

function policy({ id, name, rules, deployments, includeByDefault }: Policy): Markup {
  const isAttached = deployments.includes('main')
  const where = deployments.length === 0 ? 'attached to nothing' : `attached to ${deployments.join(', ')}`
  const change = isAttached ? 'detach' : 'attach'
  const label = isAttached ? 'Detach' : 'Attach'
  return markup`<li><h3>${name}</h3><p>${state(isAttached, where)}${includeByDefault ? markup` ${state(true, 'default of new deployments')}` : ''}</p>
<p>${rules.map(rule => markup`<code>${rule}</code> `)}</p>
<div class="row"><form data-do="POST /policies/${id}/${change}"><button id="${change}-${id}" aria-label="${label} ${name}">${label}</button></form><form data-do="DELETE /policies/${id}"><button class="plain" id="delete-${id}" aria-label="Delete ${name}">Delete</button></form></div></li>`
}

/** Open connections of the proxy's clients, and of those that do not use it. */
function connections(control: Control): Markup {
  const pair: readonly string[] = control.line().staticIps
  const open = control.connections().filter(({ open, at, from }) => open && (at === 'proxy' || !pair.includes(from)))
  const rows = open
    .slice(-SHOWN)
    .toReversed()
    .map(({ at, port, from, egress, target, requests }) => [
      egress === undefined
        ? markup`<code class="address">${from}</code> ${state(false, 'no proxy')}`
        : markup`<code class="address">${egress}</code>`,
      egress === undefined ? `${at} ${port}` : `proxy ${port}`,
      target ?? '',
      requests,
    ])
  const empty = 'No connection is open.'
  return markup`${tableOf('Open connections', ['Leaves from', 'Came in at', 'Target', 'Requests'], rows, empty)}${more(open.length)}`
}

function refusals(control: Control): Markup {
  const all = control.refusals()
  const rows = all
    .slice(-SHOWN)
    .toReversed()
    .map(({ at, by, from, request, status, why }) => [
      markup`<time datetime="${new Date(at).toISOString()}">${new Date(at).toISOString().slice(11, 19)}</time>`,
      by,
      markup`<code class="address">${from}</code>`,
      markup`<span class="long">${request}</span>`,
      status ?? '',
      markup`<span class="long">${why}</span>`,
    ])
  const heads = ['Time (UTC)', 'Refused by', 'From', 'Request', 'Status', 'Why']
  return markup`${tableOf('Refused requests', heads, rows, 'Nobody refused a request so far.')}${more(all.length)}`
}

function indices(control: Control): Markup {
  const all = control.indices().toSorted((a, b) => b.documents - a.documents)
  const rows = all.slice(0, SHOWN).map(({ name, documents }) => [markup`<span class="long">${name}</span>`, documents])
  return markup`${tableOf('Indices', ['Index', 'Documents'], rows, 'The cluster has no index yet.')}${more(all.length)}`
}

function planted(control: Control): Markup {
  const rows = Object.entries(control.faults()).map(([name, details]) => [
    name,
    markup`<code>${JSON.stringify(details)}</code>`,
    faultNames.some(one => one === name) ? control.struck(name as keyof Faults) : '',
  ])
  return tableOf('Planted faults', ['Fault', 'Details', 'Struck'], rows, 'No fault is planted.')
}

function leaving(seen: readonly LabConnection[], address: string): readonly LabConnection[] {
  return seen.filter(({ at, egress }) => at === 'proxy' && egress === address)
}

function more(count: number): Markup {
  return count <= SHOWN ? markup`` : markup`<p class="empty">${SHOWN} of ${count} are shown.</p>`
}

/** A word that colour repeats. */
function state(isGood: boolean, word: string): Markup {
  return markup`<span class="state ${isGood ? 'good' : 'bad'}">${word}</span>`
}
