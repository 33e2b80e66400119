// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same from C++: owners free themselves, failures are exceptions, the shape is the typed struct.
#include <cdnagen.h>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static void must(cdnagen_status status) {
    if (status != CDNAGEN_OK)
        throw std::runtime_error(std::string(cdnagen_status_name(status)) + ": " + cdnagen_error());
}

struct Free {
    void operator()(cdnagen *ctx) const { cdnagen_free_context(ctx); }
    void operator()(cdnagen_kernel *kernel) const { cdnagen_free_kernel(kernel); }
};

// A vector's copy in device memory.
template <class T> struct Device {
    cdnagen *ctx;
    cdnagen_buffer buffer{};
    Device(cdnagen *c, const std::vector<T> &host) : ctx(c) {
        buffer.bytes = host.size() * sizeof(T);
        must(cdnagen_alloc(ctx, buffer.bytes, &buffer.ptr));
        must(cdnagen_copy_to_device(ctx, buffer.ptr, host.data(), buffer.bytes));
    }
    Device(const Device &) = delete;
    ~Device() { cdnagen_free_memory(ctx, buffer.ptr); }
};

int main() try {
    const int seq = 16, seq_kv = 100, heads = 32, dim = 64, stride = 256;
    cdnagen_options options{};
    options.size = sizeof options;
    options.device = "auto";
    cdnagen *raw_context;
    must(cdnagen_create_context(&options, &raw_context));
    const std::unique_ptr<cdnagen, Free> ctx(raw_context);

    cdnagen_mqa_logits_shape shape{};
    shape.size = sizeof shape;
    shape.seq = seq, shape.seq_kv = seq_kv, shape.heads = heads, shape.dim = dim;
    cdnagen_kernel *raw_kernel;
    must(cdnagen_gen_mqa_logits(ctx.get(), "auto", &shape, &raw_kernel));
    const std::unique_ptr<cdnagen_kernel, Free> kernel(raw_kernel);

    std::vector<float> logits(seq * stride, NAN);
    const Device<unsigned char> q(ctx.get(), std::vector<unsigned char>(seq * heads * dim, 0x38)); // 1.0 in e4m3fn
    const Device<unsigned char> kv(ctx.get(), std::vector<unsigned char>(seq_kv * dim, 0x38));
    const Device<float> scales(ctx.get(), std::vector<float>(seq_kv, 1)),
        weights(ctx.get(), std::vector<float>(seq * heads, 1));
    const Device<int> starts(ctx.get(), std::vector<int>(seq, 0)), ends(ctx.get(), std::vector<int>(seq, seq_kv));
    const Device<float> out(ctx.get(), logits);

    cdnagen_mqa_logits_args args{};
    args.size = sizeof args;
    args.q = q.buffer, args.kv = kv.buffer, args.kv_scales = scales.buffer, args.weights = weights.buffer;
    args.cu_starts = starts.buffer, args.cu_ends = ends.buffer, args.logits = out.buffer;
    args.seq = seq, args.seq_kv = seq_kv, args.logits_stride = stride;
    must(cdnagen_launch_mqa_logits(kernel.get(), &args, nullptr));
    must(cdnagen_synchronize(ctx.get(), nullptr));
    must(cdnagen_copy_to_host(ctx.get(), logits.data(), out.buffer.ptr, out.buffer.bytes));

    int wrong = 0;
    for (int m = 0; m < seq; m++)
        for (int n = 0; n < seq_kv; n++) wrong += logits[m * stride + n] != float(heads * dim);
    std::printf("%d of %d logits are wrong\n", wrong, seq * seq_kv);
    return wrong != 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
