/**
 * The script of the page. Sends forms, and shows what the lab says. A form names its operation: `POST /policies`. The token is
 * the part of the address after #, which no request carries by itself.
 */
export const SCRIPT = `'use strict'
const token = location.hash.slice(1)
const headers = { 'x-lab-token': token }
const by = id => document.getElementById(id)

function say(text, isBad) {
  const said = by('said')
  said.textContent = text
  said.className = isBad ? 'bad' : 'good'
}

function valueOf(field) {
  if (field.type === 'checkbox') return field.checked
  if (field.dataset.as === 'lines') return field.value.split('\\n').map(line => line.trim()).filter(Boolean)
  return field.value
}

function bodyOf(form) {
  const fields = [...form.elements].filter(field => field.name)
  const values = Object.fromEntries(fields.map(field => [field.name, valueOf(field)]))
  if (form.dataset.as !== 'fault') return values
  try {
    return { [values.fault]: JSON.parse(values.details) }
  } catch {
    throw new Error('The details are not JSON')
  }
}

async function send(form) {
  const [method, path] = form.dataset.do.split(' ')
  const response = await fetch('control' + path, { method, headers, body: JSON.stringify(bodyOf(form)) })
  const text = await response.text()
  if (!response.ok) throw new Error(JSON.parse(text).error)
  if ('clear' in form.dataset) form.reset()
  say(form.dataset.done || 'Done', false)
}

document.addEventListener('submit', event => {
  event.preventDefault()
  send(event.target).catch(error => say(error.message, true))
})

document.addEventListener('click', event => {
  const text = event.target.dataset && event.target.dataset.copy
  if (text === undefined) return
  const copied = navigator.clipboard.writeText(text)
  copied.then(() => say('Copied', false), () => say('The browser does not let this page copy', true))
})

const fault = by('fault')
const fill = () => { by('details').value = fault.selectedOptions[0].dataset.details }
fault.addEventListener('change', fill)
fill()

/** Whoever is in a part that changes keeps the place. */
function show(regions) {
  for (const [id, html] of Object.entries(regions)) {
    const region = by(id)
    const { activeElement: before } = document
    const name = region.contains(before) ? before.id || before.getAttribute('aria-label') : ''
    const { scrollLeft = 0, scrollTop = 0 } = region.querySelector('.scroll') || {}
    region.innerHTML = html
    const scrolled = region.querySelector('.scroll')
    if (scrolled) scrolled.scrollTo(scrollLeft, scrollTop)
    if (!name) continue
    const same = [...region.querySelectorAll('[id], [aria-label]')].find(one => one.id === name || one.getAttribute('aria-label') === name)
    if (same) same.focus()
  }
}

function live(isLive, text) {
  by('live').textContent = text
  by('live').className = isLive ? 'state good' : 'state bad'
}

async function listen() {
  const response = await fetch('events', { headers })
  if (!response.ok) return (await response.json()).error
  live(true, 'live')
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return undefined
    const lines = (text + value).split('\\n')
    text = lines.pop()
    for (const line of lines) show(JSON.parse(line))
  }
}

async function follow() {
  for (;;) {
    const refused = await listen().catch(() => undefined)
    if (refused !== undefined) return live(false, refused)
    live(false, 'The lab does not answer. Trying again')
    await new Promise(resolve => setTimeout(resolve, 1000))
  }
}
follow()
`
