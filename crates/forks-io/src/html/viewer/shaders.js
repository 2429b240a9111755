// Programs of the graphics card (GLSL ES 3.00), for materials of three.js. Colours leave them multiplied by their
// opacity.

// Lighting: a lamp behind the viewer's shoulder, light from the sky and less from the ground, a soft highlight.
const SOLID_VERTEX = `in vec3 position;
in vec3 normal;
in vec4 row0;
in vec4 row1;
in vec4 row2;
in vec4 colour;
in vec2 mark;
uniform mat4 clipFromWorld;
out vec3 vPosition; out vec3 vNormal; out vec3 vLocal; out vec4 vColour; flat out vec2 vMark;
void main() {
  vec4 p = vec4(position, 1.0);
  vPosition = vec3(dot(row0, p), dot(row1, p), dot(row2, p));
  // The map is a rotation times a scaling: its inverse transpose has the same columns over their squares.
  vec3 a = vec3(row0.x, row1.x, row2.x), b = vec3(row0.y, row1.y, row2.y), c = vec3(row0.z, row1.z, row2.z);
  vNormal = a * (normal.x / dot(a, a)) + b * (normal.y / dot(b, b)) + c * (normal.z / dot(c, c));
  vLocal = position; vColour = colour; vMark = mark;
  gl_Position = clipFromWorld * vec4(vPosition, 1.0);
}`;
const SOLID_FRAGMENT = `precision highp float;
in vec3 vPosition; in vec3 vNormal; in vec3 vLocal; in vec4 vColour; flat in vec2 vMark;
uniform vec3 eye; uniform vec3 lamp; uniform vec3 accent; uniform float opacity; uniform int pattern; uniform vec4 section;
out vec4 result;
void main() {
  if (dot(section.xyz, vPosition) > section.w) discard; // cut off
  vec3 toEye = normalize(eye - vPosition), n = normalize(vNormal);
  if (dot(n, toEye) < 0.0) n = -n; // open surfaces are seen from both sides
  vec3 base = pow(vColour.rgb, vec3(2.2));
  float side = pattern == 2 ? vLocal.x * vLocal.y * vLocal.z : pattern == 1 ? vLocal.x * vLocal.y : 0.0;
  if (side > 0.0) base *= 0.72;
  float sky = 0.36 + 0.16 * n.z;
  float sun = 0.62 * max(dot(n, lamp), 0.0);
  float shine = 0.14 * pow(max(dot(n, normalize(lamp + toEye)), 0.0), 48.0);
  vec3 lit = base * (sky + sun) + shine;
  float rim = pow(1.0 - max(dot(n, toEye), 0.0), 2.0);
  lit = mix(lit, pow(accent, vec3(2.2)), vMark.y * (0.1 + 0.65 * rim));
  float a = vColour.a * opacity;
  result = vec4(pow(lit, vec3(1.0 / 2.2)) * a, a);
}`;
const PICK_FRAGMENT = `precision highp float;
in vec3 vPosition; in vec3 vNormal; in vec3 vLocal; in vec4 vColour; flat in vec2 vMark;
uniform vec4 section;
out vec4 result;
void main() {
  if (dot(section.xyz, vPosition) > section.w) discard;
  float n = vMark.x;
  result = vec4(mod(n, 256.0), mod(floor(n / 256.0), 256.0), floor(n / 65536.0), 255.0) / 255.0;
}`;
// What bodies cast straight down on a plane: the same surfaces, flattened.
const SHADOW_VERTEX = `in vec3 position;
in vec4 row0;
in vec4 row1;
in vec4 row2;
uniform mat4 clipFromWorld; uniform vec4 plane;
void main() {
  vec4 p = vec4(position, 1.0);
  vec3 world = vec3(dot(row0, p), dot(row1, p), dot(row2, p));
  float height = dot(plane.xyz, world) + plane.w;
  gl_Position = clipFromWorld * vec4(world - height * plane.xyz, 1.0);
}`;
const SHADOW_FRAGMENT = `precision highp float;
uniform vec4 colour;
out vec4 result;
void main() { result = vec4(colour.rgb * colour.a, colour.a); }`;
// A square of a plane around a centre, with lines every step and every ten steps; steps fade into each other.
const GRID_VERTEX = `in vec2 position;
uniform mat4 clipFromWorld; uniform vec3 origin; uniform vec3 right; uniform vec3 up; uniform vec2 centre; uniform float reach;
out vec2 vPlace;
void main() {
  vPlace = centre + reach * position;
  gl_Position = clipFromWorld * vec4(origin + right * vPlace.x + up * vPlace.y, 1.0);
}`;
const GRID_FRAGMENT = `precision highp float;
in vec2 vPlace;
uniform vec2 centre; uniform float reach; uniform float stride; uniform float fade; uniform vec3 line; uniform vec4 fill;
out vec4 result;
float lines(float every) {
  vec2 q = vPlace / every, width = fwidth(q);
  vec2 off = abs(fract(q - 0.5) - 0.5) / max(width, 1e-9);
  // Where lines are nearer than a few pixels they melt into a tone; better to let them go.
  vec2 shown = (1.0 - clamp(off - 0.2, 0.0, 1.0)) * (1.0 - smoothstep(0.15, 0.5, width));
  return max(shown.x, shown.y);
}
void main() {
  float edge = 1.0 - smoothstep(0.3, 1.0, length(vPlace - centre) / reach);
  float a = edge * max(0.38 * lines(10.0 * stride), 0.24 * fade * lines(stride));
  float f = fill.a * edge;
  result = vec4(line * a + fill.rgb * f * (1.0 - a), a + f * (1.0 - a));
}`;
const LINE_VERTEX = `in vec4 position; // and time
uniform mat4 clipFromWorld; uniform float now;
out float vAlpha;
void main() {
  vAlpha = position.w <= now ? 0.95 : 0.3; // what is still to come is fainter
  gl_Position = clipFromWorld * vec4(position.xyz, 1.0);
}`;
const LINE_FRAGMENT = `precision highp float;
in float vAlpha;
uniform vec3 colour;
out vec4 result;
void main() { result = vec4(colour * vAlpha, vAlpha); }`;
