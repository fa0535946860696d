/** Reads the string and template literals of a source file. Comments and regular expressions are left out. */

/** Returns each literal with what stands before it on its line; `…` stands for a value in a template. */
export function literalsIn(source) {
  const found = []
  let at = 0
  while (at < source.length) {
    const rest = source.slice(at, at + 2)
    const end =
      rest === '//' ? lineEnd(at) : rest === '/*' ? source.indexOf('*/', at) + 2 : isRegex(at) ? regexEnd(at) : undefined
    if (end !== undefined) at = end
    else if (/['"`]/.test(source[at])) at = literal(at)
    else at += 1
  }
  return found

  function literal(start) {
    const quote = source[start]
    let text = ''
    let here = start + 1
    while (source[here] !== quote) {
      if (quote === '`' && source.startsWith('${', here)) {
        const close = valueEnd(here + 2)
        for (const inner of literalsIn(source.slice(here + 2, close))) found.push(inner)
        text += '…'
        here = close + 1
      } else if (source[here] === '\\') {
        const [escape] = /^(?:u[\dA-F]{4}|.)/is.exec(source.slice(here + 1, here + 6))
        text += unescape(escape)
        here += 1 + escape.length
      } else {
        text += source[here]
        here += 1
      }
    }
    const before = source.slice(Math.max(source.lastIndexOf('\n', start - 1) + 1, start - 60), start)
    found.push({ text: text.replaceAll('\u001B[K', '').replaceAll(/\s+/g, ' ').trim(), before })
    return here + 1
  }

  function unescape(escape) {
    if (escape.length > 1) return String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[nrt]/.test(escape) ? ' ' : escape
  }

  function valueEnd(start) {
    let depth = 1
    let here = start
    while (depth > 0) {
      if (source[here] === '{') depth += 1
      if (source[here] === '}') depth -= 1
      here += 1
    }
    return here - 1
  }

  function isRegex(start) {
    if (source[start] !== '/') return false
    return /(?:[(,=:?!&|[{;]|\breturn|=>)\s*$/.test(source.slice(Math.max(0, start - 20), start))
  }

  function regexEnd(start) {
    let here = start + 1
    let inClass = false
    while (source[here] !== '/' || inClass) {
      if (source[here] === '\\') here += 1
      else if (source[here] === '[') inClass = true
      else if (source[here] === ']') inClass = false
      here += 1
    }
    return here + 1
  }

  function lineEnd(start) {
    const end = source.indexOf('\n', start)
    return end === -1 ? source.length : end
  }
}
