// What the viewer uses of three.js; the rest is left out of the bundle.
export {
  BufferAttribute, BufferGeometry, Camera, ColorManagement, CustomBlending, DoubleSide, DynamicDrawUsage, GLSL3,
  GreaterDepth, InstancedBufferGeometry, InstancedInterleavedBuffer, InterleavedBuffer, InterleavedBufferAttribute, Line,
  LinearSRGBColorSpace, Matrix4, Mesh, NoBlending, NotEqualStencilFunc, OneFactor, OneMinusSrcAlphaFactor,
  RawShaderMaterial, ReplaceStencilOp, Scene, Sphere, Vector2, Vector3, Vector4, WebGLRenderTarget, WebGLRenderer,
} from "three";
