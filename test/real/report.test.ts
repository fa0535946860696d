/** The report in a real browser: layout, contrast and charts, on a phone, a tablet, a desktop and paper. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Browser, type Page, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reportPage } from '../../src/features/report/page.js'
import { longRun, reportFacts } from '../support/facts/report-facts.js'
import { LOW_CONTRAST, OUTSIDE, browserArguments } from './page-checks.js'
import { findParts } from './servers/parts.js'

const sizes = {
  phone: { width: 360, colorScheme: 'light', media: 'screen' },
  tablet: { width: 768, colorScheme: 'dark', media: 'screen' },
  desktop: { width: 1280, colorScheme: 'light', media: 'screen' },
  paper: { width: 794, colorScheme: 'light', media: 'print' },
} as const

/** Charts hold no text, and stand alone on whole pixels, so that any fonts make these pictures. `SLUICE_WRITE_SCREENSHOTS=1` writes them. */
const pictures = fileURLToPath(new URL('screenshots/', import.meta.url))
const charts = ['documents', 'answers', 'open-requests', 'retries']

const { chromium: program } = findParts()
let browser: Browser
/** Compares pictures. */
let blank: Page
let folder: string

describe.skipIf(program === undefined)('the report in Chromium', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'report-'))
    browser = await chromium.launch({
      executablePath: program ?? '',
      args: browserArguments,
    })
    blank = await browser.newPage()
  })
  afterAll(async () => {
    await browser.close()
    await rm(folder, { recursive: true })
  })

  async function shown(html: string, size: keyof typeof sizes): Promise<Page & AsyncDisposable> {
    const path = join(folder, `${size}.html`)
    await writeFile(path, html)
    const { width, colorScheme, media } = sizes[size]
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
    await page.emulateMedia({ media })
    await page.goto(pathToFileURL(path).href)
    return page
  }

  describe.each(Object.keys(sizes) as (keyof typeof sizes)[])('%s', size => {
    test('nothing is wider than the page, nothing overlaps, and every text has contrast', async () => {
      await using page = await shown(reportPage(longRun), size)
      await page.evaluate(`document.querySelectorAll('details').forEach(one => (one.open = true))`)
      expect(await page.evaluate(`document.documentElement.scrollWidth - innerWidth`)).toBeLessThanOrEqual(0)
      expect(await page.evaluate(OUTSIDE)).toEqual([])
      expect(await page.evaluate(OVERLAPS)).toEqual([])
      expect(await page.evaluate(LOW_CONTRAST)).toEqual([])
    })

    test('every chart has a name, a description and a table, and looks as it did', async () => {
      await using page = await shown(reportPage(longRun), size)
      expect(await page.evaluate(NAMELESS)).toEqual([])
      for (const chart of charts) {
        const alone = await page.addStyleTag({ content: ALONE(`#${chart} .plot`) })
        const picture = await page.locator(`#${chart} .plot`).screenshot()
        await alone.evaluate(style => (style as unknown as { remove(): void }).remove())
        const file = join(pictures, `${size}-${chart}.png`)
        if (process.env['SLUICE_WRITE_SCREENSHOTS'] === '1') await writeFile(file, picture)
        const before = await readFile(file)
        expect(await differences(before, picture), `${size}-${chart}.png`).toBeLessThan(0.02)
      }
    })
  })

  test('names from outside run nothing and load nothing', async () => {
    const name = `<img src=x onerror=alert(1)><script>alert(2)</script>`
    const end = { ...longRun.end, run: name, inputs: [{ name, status: 'finished' as const, read: 1 }] }
    const problems: string[] = []
    await using page = await shown('<p>', 'desktop')
    page.on('dialog', dialog => {
      problems.push('dialog')
      void dialog.dismiss()
    })
    page.on('console', message => problems.push(message.text()))
    page.on('request', request => {
      if (!request.url().startsWith('file:')) problems.push(request.url())
    })
    await writeFile(join(folder, 'hostile.html'), reportPage(reportFacts({ end })))
    await page.goto(pathToFileURL(join(folder, 'hostile.html')).href)
    expect(await page.locator('tbody th', { hasText: '<img src=x' }).count()).toBe(1)
    expect(await page.evaluate(`document.scripts.length + document.images.length`)).toBe(0)
    expect(problems).toEqual([])
  })

  test('it prints on pages, in black on white', async () => {
    await using page = await shown(reportPage(longRun), 'paper')
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
    expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(1)
    expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe('rgb(255, 255, 255)')
  })

  /** Returns the share of pixels that differ clearly. */
  async function differences(one: Buffer, other: Buffer): Promise<number> {
    const urls = [one, other].map(png => `data:image/png;base64,${png.toString('base64')}`)
    return await blank.evaluate(`(${DIFFERENCES})(${JSON.stringify(urls)})`)
  }
})

const ALONE = (plot: string): string => `body * { visibility: hidden }
  ${plot}, ${plot} * { visibility: visible }
  ${plot} { position: fixed; top: 0; left: 0; width: 640px; height: 150px }`

/** Parts of a page that follow each other and share room. */
const OVERLAPS = `[...document.querySelectorAll('main, main > *, section, figure, .xs, .ys, tr, .figures')].flatMap(parent => {
  const shown = [...parent.children].map(one => [one, one.getBoundingClientRect()]).filter(([, { width, height }]) => width > 1 && height > 1)
  return shown.flatMap(([one, a], at) => shown.slice(at + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1,
  ).map(([other]) => one.outerHTML.slice(0, 60) + ' / ' + other.outerHTML.slice(0, 60)))
})`

/** Charts without a name, a description or a table. */
const NAMELESS = `[...document.querySelectorAll('svg')].filter(svg => {
  const labels = (svg.getAttribute('aria-labelledby') ?? '').split(' ').map(id => document.getElementById(id)?.textContent ?? '')
  return svg.getAttribute('role') !== 'img' || labels.length !== 2 || labels.includes('') || svg.closest('figure').querySelectorAll('table tbody tr').length === 0
}).length === 0 && document.querySelectorAll('svg').length === 4 ? [] : ['a chart']`

const DIFFERENCES = `async urls => {
  const [a, b] = await Promise.all(urls.map(async url => {
    const image = new Image()
    image.src = url
    await image.decode()
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')
    canvas.drawImage(image, 0, 0)
    return canvas.getImageData(0, 0, image.width, image.height)
  }))
  if (a.width !== b.width || a.height !== b.height) return 1
  let different = 0
  for (let at = 0; at < a.data.length; at += 4) {
    if ([0, 1, 2].some(channel => Math.abs(a.data[at + channel] - b.data[at + channel]) > 32)) different += 1
  }
  return different / (a.width * a.height)
}`
