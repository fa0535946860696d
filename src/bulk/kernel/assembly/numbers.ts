const MINUS: u8 = 0x2d
const PLUS: u8 = 0x2b
const POINT: u8 = 0x2e
const ZERO: u8 = 0x30
const LOWER_E: u8 = 0x65

/** Behind the number that begins at `from`; 0 where there is none. */
// @ts-ignore: decorator
@inline
export function endOfNumber(from: usize): usize {
  const whole = from + usize(load<u8>(from) == MINUS)
  let at = afterDigits(whole)
  if (at == whole) return 0
  if (load<u8>(whole) == ZERO && at > whole + 1) return 0
  if (load<u8>(at) == POINT) {
    const fraction = at + 1
    at = afterDigits(fraction)
    if (at == fraction) return 0
  }
  if ((load<u8>(at) | 0x20) == LOWER_E) {
    at += 1
    const sign = load<u8>(at)
    if (sign == PLUS || sign == MINUS) at += 1
    const exponent = at
    at = afterDigits(exponent)
    if (at == exponent) return 0
  }
  return at
}

// @ts-ignore: decorator
@inline
function afterDigits(from: usize): usize {
  let at = from
  while (load<u8>(at) - ZERO < 10) at += 1
  return at
}
