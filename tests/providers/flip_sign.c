/* A provider built apart from Trivet, in C and from the public header alone: it runs Neg on float32,
 * one node to a segment. FLIP_SIGN_ABI and FLIP_SIGN_MISSING build the ones that must be refused. */
#include <stdlib.h>
#include <string.h>

#include "trivet/provider.h"

#ifndef FLIP_SIGN_ABI
#define FLIP_SIGN_ABI TRV_PROVIDER_ABI_VERSION
#endif

enum { kFloat = 1 /* TensorProto.FLOAT */ };

typedef struct Flip {
  const TrvHost* host;
  TrvThreads* threads;
  size_t model_bytes;
} Flip;

typedef struct Work {
  const float* from;
  float* to;
  size_t count;
  size_t pieces;
} Work;

static int32_t fail(TrvError* error, TrvCode code, const char* message) {
  error->code = code;
  strncpy(error->message, message, sizeof(error->message) - 1);
  error->message[sizeof(error->message) - 1] = '\0';
  return code;
}

static int32_t check(const TrvHost* host, TrvError* error) {
#ifdef FLIP_SIGN_MISSING
  (void)host;
  return fail(error, TRV_UNSUPPORTED, "no sign flipper in this machine; plug one in");
#else
  if (host->size < sizeof(TrvHost)) return fail(error, TRV_UNSUPPORTED, "the host is too old");
  return TRV_OK;
#endif
}

static int32_t claim(const TrvHost* host, const TrvGraph* graph, uint8_t* claimed, TrvError* error) {
  (void)error;
  for (size_t i = 0; i < host->node_count(graph); ++i) {
    claimed[i] = strcmp(host->node_op_type(graph, i), "Neg") == 0 && host->node_domain(graph, i)[0] == '\0';
  }
  return TRV_OK;
}

static int32_t count_bytes(void* user, const void* data, size_t bytes) {
  (void)data;
  *(size_t*)user += bytes;
  return 0;
}

static int32_t compile(const TrvHost* host, const TrvGraph* graph, const TrvCompileOptions* options,
                       TrvCompiled** compiled, TrvError* error) {
  if (host->node_count(graph) != 1 || host->input_count(graph) != 1 || host->output_count(graph) != 1) {
    return fail(error, TRV_UNSUPPORTED, "one Neg at a time");
  }
  Flip* flip = calloc(1, sizeof(Flip));
  if (flip == NULL) return fail(error, TRV_OUT_OF_MEMORY, "no memory");
  flip->host = host;
  flip->threads = options->threads;
  const int32_t code = host->serialize(graph, count_bytes, &flip->model_bytes, error);
  if (code != TRV_OK) {
    free(flip);
    return code;
  }
  *compiled = (TrvCompiled*)flip;
  return TRV_OK;
}

static void flip_piece(void* user, size_t task, size_t worker) {
  (void)worker;
  const Work* work = user;
  const size_t begin = work->count * task / work->pieces;
  const size_t end = work->count * (task + 1) / work->pieces;
  for (size_t i = begin; i < end; ++i) work->to[i] = -work->from[i];
}

static int32_t run(TrvCompiled* compiled, const TrvTensor* inputs, const TrvOutputs* outputs,
                   TrvError* error) {
  const Flip* flip = (const Flip*)compiled;
  if (inputs[0].dtype != kFloat) return fail(error, TRV_UNSUPPORTED, "only float32 has a sign here");
  Work work = {inputs[0].data, NULL, inputs[0].bytes / sizeof(float), flip->host->thread_count(flip->threads)};
  work.to = outputs->allocate(outputs->user, 0, kFloat, inputs[0].rank, inputs[0].dims, error);
  if (work.to == NULL) return error->code;
  flip->host->parallel_for(flip->threads, work.pieces, flip_piece, &work);
  return TRV_OK;
}

static void destroy(TrvCompiled* compiled) { free(compiled); }

static int32_t describe(const TrvCompiled* compiled, TrvWrite write, void* user, TrvError* error) {
  static const char kKnown[] = "{\"model\":\"serialized\"}";
  static const char kEmpty[] = "{}";
  const int known = ((const Flip*)compiled)->model_bytes > 0;
  if (write(user, known ? kKnown : kEmpty, (known ? sizeof(kKnown) : sizeof(kEmpty)) - 1) == 0) return TRV_OK;
  return fail(error, TRV_FAILED, "nobody reads what this provider has to say");
}

static const TrvProvider kProvider = {
    .abi_version = FLIP_SIGN_ABI,
    .size = sizeof(TrvProvider),
    .name = "flip-sign",
    .description = "Neg, and nothing else",
    .check = check,
    .claim = claim,
    .compile = compile,
    .run = run,
    .destroy = destroy,
    .describe = describe,
};

const TrvProvider* trv_get_provider(uint32_t abi_version);
const TrvProvider* trv_get_provider(uint32_t abi_version) {
  (void)abi_version;
  return &kProvider;
}
