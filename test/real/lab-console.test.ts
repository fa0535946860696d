/** The console of the lab in a real browser: what it shows, what it changes, and who else may not. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type Page, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../src/lab/index.js'
import { askForward } from '../support/lab/lab-clients.js'
import { LOW_CONTRAST, OUTSIDE, UNNAMED, browserArguments } from './page-checks.js'
import { findParts } from './servers/parts.js'

const { chromium: program } = findParts()
let browser: Browser

describe.skipIf(program === undefined)('the console of the lab in Chromium', () => {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program ?? '', args: browserArguments })
  })
  afterAll(async () => await browser.close())

  interface Opened extends AsyncDisposable {
    readonly lab: Lab
    readonly page: Page
    /** What the console of the browser says, and requests to other places. */
    readonly problems: readonly string[]
  }

  async function opened({ width = 1280, dark = false } = {}): Promise<Opened> {
    const lab = await startLab({ console: true, pick: 'round-robin' })
    const url = lab.line.console ?? ''
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: dark ? 'dark' : 'light' })
    const problems: string[] = []
    page.on('console', message => problems.push(message.text()))
    page.on('pageerror', error => problems.push(String(error)))
    page.on('request', request => {
      if (new URL(request.url()).origin !== new URL(url).origin) problems.push(request.url())
    })
    await page.goto(url)
    await page.getByText('live', { exact: true }).waitFor()
    const close = async () => {
      await page.close()
      await lab.close()
    }
    return { lab, page, problems, [Symbol.asyncDispose]: close }
  }

  const askCluster = async ({ line }: Lab, path: string, body?: string) =>
    await askForward(line.proxy.http, `${line.cluster.httpUrl}${path}`, {
      ca: '',
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `ApiKey ${line.cluster.apiKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })

  test('shows the account, connections by address, refusals with their reasons, and documents', async () => {
    await using world = await opened()
    const { lab, page, problems } = world
    for (const text of [...lab.line.staticIps, lab.line.proxy.http, lab.line.cluster.apiKey])
      await page.locator('#addresses, #account').getByText(text, { exact: true }).first().waitFor()
    expect((await askCluster(lab, '/shown/_doc', '{"n":1}')).status).toBe(201)
    await page.locator('#indices tr', { hasText: 'shown' }).getByText('1', { exact: true }).waitFor()
    lab.control.register('second')
    const statuses = new Set([(await askCluster(lab, '/')).status, (await askCluster(lab, '/')).status])
    expect(statuses).toEqual(new Set([200, 403]))
    const refused = page.locator('#refusals tr', { hasText: 'no attached policy allows 127.0.0.2' })
    await refused.waitFor()
    expect(await refused.innerText()).toMatch(/IP filter\s+127\.0\.0\.2\s+GET \/\s+403/)
    await page.locator('#addresses tr', { hasText: '127.0.0.2' }).getByText('refused').waitFor()
    await page.locator('#addresses tr', { hasText: '127.0.0.3' }).getByText('allowed').waitFor()
    const wrong = new URL(lab.line.proxy.http)
    wrong.password = 'wrong'
    await askForward(wrong.href, `${lab.line.cluster.httpUrl}/`, { ca: '' })
    await page.locator('#refusals').getByText('missing or wrong user name or password').waitFor()
    expect(problems).toEqual([])
  })

  test('creates, attaches, detaches and deletes a policy with the rules of the platform', async () => {
    await using world = await opened()
    const { lab, page, problems } = world
    const said = page.locator('#said')
    const create = async (name: string, rules: string) => {
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Addresses or CIDR blocks').fill(rules)
      await page.getByRole('button', { name: 'Create policy' }).click()
    }
    await create('mine', 'www.example.com')
    await said.getByText('DNS names are not supported').waitFor()
    await create('mine', '10.0.0.0/8\n127.0.0.2')
    await said.getByText('Created').waitFor()
    const named = (name: string) => lab.control.policies().find(policy => policy.name === name)
    expect(named('mine')).toMatchObject({ rules: ['10.0.0.0/8', '127.0.0.2'], deployments: [] })
    await page.getByRole('button', { name: 'Attach mine' }).click()
    await page.getByRole('button', { name: 'Detach mine' }).waitFor()
    await page.getByRole('button', { name: 'Detach static pair' }).click()
    await page.locator('#addresses tr', { hasText: '127.0.0.3' }).getByText('refused').waitFor()
    expect([named('mine')?.deployments, named('static pair')?.deployments]).toEqual([['main'], []])
    await page.getByRole('button', { name: 'Delete mine' }).click()
    await said.getByText('The policy is attached to main. Detach it first').waitFor()
    await page.getByRole('button', { name: 'Detach mine' }).click()
    await page.getByText('No policy is attached to main, so every address passes.').waitFor()
    await page.getByRole('button', { name: 'Delete mine' }).click()
    await page.getByRole('button', { name: 'Delete mine' }).waitFor({ state: 'detached' })
    expect(named('mine')).toBeUndefined()
    await page.getByLabel('Who is registered').selectOption('first')
    await page.getByRole('button', { name: 'Replace all policies' }).click()
    await page.getByText('first address').waitFor()
    // Chromium reports each answer of 400 itself.
    expect(problems.filter(text => !text.includes('status of 400'))).toEqual([])
  })

  test('plants faults, shows how often they struck, and takes them away', async () => {
    await using world = await opened()
    const { lab, page } = world
    for (const option of await page.getByLabel('Fault', { exact: true }).locator('option').all()) {
      await page.getByLabel('Fault', { exact: true }).selectOption((await option.getAttribute('value')) ?? '')
      await page.getByRole('button', { name: 'Plant fault' }).click()
      await page
        .locator('#planted')
        .getByRole('rowheader', { name: (await option.getAttribute('value')) ?? '', exact: true })
        .waitFor()
    }
    await page.getByRole('button', { name: 'Take all faults away' }).click()
    await page.getByText('No fault is planted.').waitFor()
    await page.getByLabel('Fault', { exact: true }).selectOption('login')
    await page.getByLabel('Details, as JSON').fill('{"times":')
    await page.getByRole('button', { name: 'Plant fault' }).click()
    await page.locator('#said').getByText('The details are not JSON').waitFor()
    await page.getByLabel('Details, as JSON').fill('{"times":2}')
    await page.getByRole('button', { name: 'Plant fault' }).click()
    await page.locator('#planted').getByText('{"times":2}').waitFor()
    expect((await askCluster(lab, '/')).status).toBe(407)
    await page.locator('#planted tr', { hasText: 'login' }).getByRole('cell', { name: '1', exact: true }).waitFor()
    await page.locator('#refusals').getByText('a planted fault: login').waitFor()
  })

  test('changes keep the focus, and a lab that ended is named', async () => {
    await using world = await opened()
    const { lab, page } = world
    await page.getByRole('button', { name: 'Delete static pair' }).focus()
    lab.control.createPolicy({ name: 'another', rules: ['10.0.0.1'] })
    await page.getByText('another', { exact: true }).waitFor()
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Delete static pair')
    await lab.close()
    await page.getByText('The lab does not answer. Trying again').waitFor()
  })

  test.each([
    ['a phone', { width: 360, dark: false }],
    ['a phone at night', { width: 360, dark: true }],
    ['a desktop', { width: 1280, dark: false }],
    ['a desktop at night', { width: 1280, dark: true }],
  ])('on %s everything is within the page, has contrast and a name', async (_, size) => {
    await using world = await opened(size)
    const { lab, page } = world
    lab.control.createPolicy({ name: `x${'y'.repeat(200)}`, rules: ['10.0.0.1'] })
    lab.control.plant({ items: { status: 429, type: `long_${'z'.repeat(200)}` }, login: { times: 1 } })
    await askCluster(lab, `/${'i'.repeat(120)}`)
    await page.locator('#refusals').getByText('a planted fault').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    for (const check of [OUTSIDE, LOW_CONTRAST, UNNAMED]) expect(await page.evaluate(check)).toEqual([])
    const { SLUICE_CONSOLE_PICTURE: picture } = process.env
    if (picture !== undefined)
      await page.screenshot({
        path: `${picture}-${size.width}${size.dark ? '-dark' : ''}.png`,
        fullPage: true,
      })
  })

  test('names from outside run nothing', async () => {
    await using world = await opened()
    const { lab, page, problems } = world
    const name = `<img src=x onerror=alert(1)>"><script>alert(2)</script>`
    lab.control.createPolicy({ name, rules: ['10.0.0.1'] })
    await page.getByRole('heading', { name }).waitFor()
    expect(await page.evaluate('document.images.length + document.scripts.length')).toBe(1)
    expect(problems).toEqual([])
  })

  test('another web site in the same browser reads nothing and changes nothing', async () => {
    await using world = await opened()
    const { lab } = world
    const { origin, hash } = new URL(lab.line.console ?? '')
    const other = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>another site'))
    await new Promise<void>(resolve => void other.listen(0, '127.0.0.1', resolve))
    const site = await browser.newPage()
    try {
      const { port } = other.address() as AddressInfo
      await site.goto(`http://127.0.0.1:${port}/`)
      const tried = await site.evaluate(`(async () => {
        const tries = [
          () => fetch('${origin}/control/faults', { method: 'POST', body: '{"edge":"unavailable"}' }),
          () => fetch('${origin}/control/faults', { method: 'POST', mode: 'no-cors', body: '{"edge":"unavailable"}' }),
          // Even with the token.
          () => fetch('${origin}/control/faults', { method: 'POST', headers: { 'x-lab-token': '${hash.slice(1)}' }, body: '{"edge":"unavailable"}' }),
          () => fetch('${origin}/events', { headers: { 'x-lab-token': '${hash.slice(1)}' } }),
          () => fetch('${origin}/'),
        ]
        return await Promise.all(tries.map(one => one().then(async answer => await answer.text(), () => 'refused')))
      })()`)
      // The answer of a request without CORS is opaque.
      expect(tried).toEqual(['refused', 'refused', 'refused', 'refused', 'refused'])
      await site.setContent(`<iframe src="${origin}/${hash}"></iframe>
        <form method="post" action="${origin}/control/faults" enctype="text/plain"><input name='{"edge":"unavailable","x":"' value='"}'></form>`)
      await site.evaluate('document.forms[0].submit()')
      await site.waitForURL(`${origin}/control/faults`)
      expect(await site.innerText('body')).toContain('another web site sent this request')
      expect(lab.control.faults()).toEqual({})
    } finally {
      await site.close()
      await new Promise(resolve => void other.close(resolve))
    }
  })
})
